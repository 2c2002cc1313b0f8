"""Where one name is bound and used in a Python file, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

ScopeKind = Literal["module", "class", "function"]
Binding = ast.Name | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.alias | ast.ExceptHandler | ast.pattern
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(slots=True)
class Scope:
    """A scope with what concerns the name in it: `bindings` and `uses` of its own, `declared` in global statements."""

    kind: ScopeKind
    outer: Scope | None = None
    bindings: list[Binding | ast.arg] = field(default_factory=list)
    uses: list[ast.Name | ast.Constant] = field(default_factory=list)
    declared: list[ast.Global] = field(default_factory=list)
    outward: bool = False
    inner: list[Scope] = field(default_factory=list)

    def walk(self) -> Iterator[Scope]:
        yield self
        for scope in self.inner:
            yield from scope.walk()

    @property
    def binds(self) -> bool:
        return bool(self.bindings) and not self.declared and not self.outward


def scopes_of(tree: ast.Module, name: str) -> Scope:
    """The scopes of a file, the module's own first, with all that concerns `name`."""
    scope = Scope("module")
    reader = _Reader(name, scope)
    for statement in tree.body:
        reader.visit(statement)
    return scope


def home_of(scope: Scope, top: Scope) -> Scope:
    """The scope that the name means when it is used in `scope`; the module's own when no function binds it."""
    if scope.declared:
        return top
    at: Scope | None = scope
    while at is not None and at is not top:
        if at.binds and (at.kind == "function" or at is scope):
            return at
        at = at.outer
    return top


class _Reader(ast.NodeVisitor):
    """Notes each place of the name in the scope that it belongs to."""

    def __init__(self, name: str, scope: Scope) -> None:
        self._name = name
        self._scope = scope

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self._name:
            (self._scope.uses if isinstance(node.ctx, ast.Load) else self._scope.bindings).append(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._defaults(node.args)
        with_scope = self._below("function")
        with_scope._arguments(node.args)
        with_scope.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.name == self._name:
            self._scope.bindings.append(node)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        below = self._below("class")
        for statement in node.body:
            below.visit(statement)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_Import(self, node: ast.Import) -> None:
        self._imports(node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._imports(node.names)

    def visit_Global(self, node: ast.Global) -> None:
        if self._name in node.names:
            self._scope.declared.append(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.outward = self._scope.outward or self._name in node.names

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name == self._name:
            self._scope.bindings.append(node)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._capture(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._capture(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._capture(node, node.rest)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        self.generic_visit(node)

    def _capture(self, node: ast.pattern, name: str | None) -> None:
        if name == self._name:
            self._scope.bindings.append(node)
        self.generic_visit(node)

    def _imports(self, names: list[ast.alias]) -> None:
        for alias in names:
            if (alias.asname or alias.name.partition(".")[0]) == self._name:
                self._scope.bindings.append(alias)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name == self._name:
            self._scope.bindings.append(node)
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._defaults(node.args)
        for each in _arguments_of(node.args):
            if each.annotation is not None:
                self._annotation(each.annotation)
                self.visit(each.annotation)
        if node.returns is not None:
            self._annotation(node.returns)
            self.visit(node.returns)
        below = self._below("function")
        below._arguments(node.args)
        for statement in node.body:
            below.visit(statement)

    def _defaults(self, arguments: ast.arguments) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)

    def _arguments(self, arguments: ast.arguments) -> None:
        self._scope.bindings += [each for each in _arguments_of(arguments) if each.arg == self._name]

    def _annotation(self, node: ast.expr) -> None:
        """Note texts that are annotations: they name things as code does."""
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                self._scope.uses.append(part)

    def _comprehension(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        below = self._below("function")
        for at, generator in enumerate(node.generators):
            if at:
                below.visit(generator.iter)
            below.visit(generator.target)
            for condition in generator.ifs:
                below.visit(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            below.visit(part)

    def _below(self, kind: ScopeKind) -> _Reader:
        scope = Scope(kind, self._scope)
        self._scope.inner.append(scope)
        return _Reader(self._name, scope)


def _arguments_of(arguments: ast.arguments) -> list[ast.arg]:
    single = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *single]
