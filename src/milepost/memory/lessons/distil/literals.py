"""Code as it is compared with other code: what its calls are given as literals differs from place to place."""

from __future__ import annotations

import ast

from milepost.sources.python_modules import syntax_tree


def without_literals(code: str) -> str:
    """Python without the texts and numbers in what calls are given; other code as it is, but for its spaces.

    What is assigned or returned stays whole: there the literal may be all that was mended.
    """
    tree = syntax_tree(code)
    if tree is None:
        return " ".join(code.split())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for given in [part for call in calls for part in (*call.args, *(one.value for one in call.keywords))]:
        for node in ast.walk(given):
            if isinstance(node, ast.Constant) and type(node.value) in (str, bytes, int, float, complex):
                node.value = ...
    return ast.dump(tree)
