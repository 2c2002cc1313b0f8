"""Python's syntax tree: read where it can be, and the names in it."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef

_DEEPEST = 400


def parsed(source: str) -> ast.Module | None:
    """The tree of a file, None where it is not Python that this interpreter can read, or nested too deeply."""
    tree = _tree(source)
    return tree if tree is not None and _depth_is_fine(tree) else None


def last_name(node: ast.AST | None) -> str:
    """The last part of a name, of an attribute, or of what is called: `c` for `a.b.c(…)`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func) | ast.Subscript(value=func):
            return last_name(func)
        case _:
            return ""


def without_docstrings(tree: ast.Module) -> ast.Module:
    """A tree of the same meaning, whose modules, classes and functions say nothing about themselves."""
    return _Plain().visit(ast.parse(ast.unparse(tree)))  # type: ignore[no-any-return]


class _Plain(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Module | ast.ClassDef | Function) and node.body and _is_text(node.body[0]):
            node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
        return super().generic_visit(node)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@lru_cache(maxsize=4)
def _tree(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _depth_is_fine(tree: ast.AST) -> bool:
    level, depth = [tree], 0
    while level and depth <= _DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return not level
