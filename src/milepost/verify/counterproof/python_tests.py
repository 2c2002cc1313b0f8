"""Where a Python test is defined, by the class and the name in its id."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef


def names_in(id_: str) -> tuple[str, ...]:
    """`("TestA", "test_b")` of `tests/test_a.py::TestA::test_b[1]`."""
    return tuple(id_.partition("::")[2].partition("[")[0].split("::"))


def find_test(tree: ast.Module, path: tuple[str, ...]) -> Function | None:
    """The function that a test's class and name mean, in a base class of the same file when the class has none."""
    *classes, name = path
    scope: ast.Module | ast.ClassDef = tree
    for each in classes:
        inner = _definition(scope, each)
        if not isinstance(inner, ast.ClassDef):
            return None
        scope = inner
    seen: set[str] = set()
    todo = [scope]
    while todo:
        scope = todo.pop(0)
        function = _definition(scope, name)
        if isinstance(function, Function):
            return function
        for base in scope.bases if isinstance(scope, ast.ClassDef) else ():
            known = _definition(tree, base.id) if isinstance(base, ast.Name) and base.id not in seen else None
            if isinstance(known, ast.ClassDef):
                seen.add(known.name)
                todo.append(known)
    return None


def _definition(scope: ast.AST, name: str) -> ast.AST | None:
    """The last definition of a name in a scope, conditional ones included."""
    found = None
    for node in _statements(scope):
        if isinstance(node, ast.ClassDef | Function) and node.name == name:
            found = node
    return found


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    for block in ("body", "orelse", "finalbody"):
        for node in getattr(scope, block, ()):
            yield node
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _statements(node)
