"""A Python file as the guard reads it: its tree walked once, and what its names stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from milepost.verify.syntax.python_tree import dotted, folded, import_names, resolved

RUNNERS = ("pytest", "_pytest", "unittest", "pluggy", "nose", "doctest")
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
Sign = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    path: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    names: Mapping[str, str]

    def path_of(self, node: ast.AST) -> str:
        """A dotted path as it is known outside of this file: `T.fail` is unittest.TestCase.fail."""
        return resolved(dotted(node), self.names)

    @property
    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        return ((node, self.path_of(node.func)) for node in self.nodes if isinstance(node, ast.Call))

    @property
    def scopes(self) -> Iterator[Scope]:
        yield self.tree
        yield from (node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def code_of(path: str, text: str, tree: ast.Module) -> Code:
    nodes = tuple(ast.walk(tree))
    names = import_names(nodes)
    return Code(path=path, text=text, tree=tree, nodes=nodes, names=names | _aliases(nodes, names))


def within(scope: Scope) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the functions inside it."""
    todo: list[ast.AST] = list(scope.body)
    if not isinstance(scope, ast.Module):
        todo += scope.decorator_list
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield node
        todo += ast.iter_child_nodes(node)


def _aliases(nodes: tuple[ast.AST, ...], names: Mapping[str, str]) -> dict[str, str]:
    """Plain names given to parts of a runner: `case = unittest.TestCase`, `p = __import__("pytest")`."""
    found: dict[str, str] = {}
    for node in nodes:
        if not isinstance(node, ast.Assign):
            continue
        path = _stands_for(node.value, names)
        if path.partition(".")[0] in (*RUNNERS, "builtins", "sys"):
            found |= {target.id: path for target in node.targets if isinstance(target, ast.Name)}
    return found


def _stands_for(value: ast.expr, names: Mapping[str, str]) -> str:
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        return resolved(dotted(value), names)
    if isinstance(value, ast.Call) and value.args:
        path = resolved(dotted(value.func), names)
        if path in ("__import__", "importlib.import_module"):
            return folded(value.args[0])
        return resolved(dotted(value), names) if dotted(value.func) == "getattr" else ""
    return ""
