"""What a name and an expression of JavaScript may be, in what a pattern writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from milepost.agents.patterns.new_module.functions import Function
from milepost.sources.javascript_tree import parsed, walk

if TYPE_CHECKING:
    from tree_sitter import Node


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RESERVED = _words(
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends "
    "false finally for function if implements import in instanceof interface let new null package private protected "
    "public return static super switch this throw true try typeof var void while with yield undefined"
)
# What the files beside the function use themselves.
TAKEN = _words(
    "version assert test run answer text integer number boolean printed misused counted matched called objectIn "
    "makeServer createServer"
)
GLOBALS = _words(
    "Math String Number Boolean BigInt Array Object JSON Date RegExp Map Set Symbol Infinity NaN undefined "
    "parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI"
)


def module_name_problems(name: str) -> tuple[str, ...]:
    """Why a module cannot have this name: node takes such files for tests."""
    if re.fullmatch(r"test|test-.*|.*[-_]test", name):
        return (f"name {name!r} would be taken for a test by node",)
    return ()


def function_problems(function: Function) -> tuple[str, ...]:
    """Why a function cannot be written in JavaScript."""
    arguments = [name for name, _ in function.parameters if name in RESERVED | GLOBALS]
    names = [name for name in (function.name,) if name in RESERVED | GLOBALS | TAKEN]
    bad = tuple(f"functions: {name!r} cannot name a function or an argument" for name in (*names, *arguments))
    root = parsed("x.js", f"({function.expression}\n);")
    # What closes the parenthesis and opens another is two expressions.
    shape = [[part.type for part in child.named_children] for child in root.named_children]
    if root.has_error or shape != [["parenthesized_expression"]]:
        return (*bad, f"functions: {function.name}: {function.expression!r:.100} is not a JavaScript expression")
    used = [node.text.decode() for node in walk(root) if node.type == "identifier" and node.text]
    own = {name for name, _ in function.parameters}
    bound = own | set(_bound(root))
    strange = dict.fromkeys(name for name in used if name not in bound and name not in GLOBALS)
    return (
        *bad,
        *(f"functions: {function.name}: {name!r} is neither an argument nor known everywhere" for name in strange),
        *(f"functions: {function.name}: the argument {name!r} is not used" for name in own - set(used)),
    )


def _bound(root: Node) -> Iterator[str]:
    """The names that functions inside the expression take."""
    for node in walk(root):
        if node.type == "arrow_function":
            taken = node.child_by_field_name("parameter") or node.child_by_field_name("parameters")
            for each in walk(taken) if taken is not None else ():
                if each.type == "identifier" and each.text:
                    yield each.text.decode()
