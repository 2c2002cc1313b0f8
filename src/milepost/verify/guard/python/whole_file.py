"""What holds for a whole Python test file: its skips, and what it takes away, rebinds or overrides."""

from __future__ import annotations

import ast
import unittest
from collections.abc import Iterator

from milepost.verify.syntax.python_tree import dotted, folded, key, last_name

SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_SKIPPING_CALLS = frozenset({"skip", "skipTest", "SkipTest", "importorskip", "xfail", "exit"})
_REBINDING = frozenset({"setattr", "delattr", "globals.update", "globals.pop", "globals.clear", "vars.update"})
_DECIDING = frozenset(
    {"run", "__call__", "debug", "failureException", "_callTestMethod", "_callSetUp", "defaultTestResult", "fail"}
    | {name for name in dir(unittest.TestCase) if name.startswith("assert")}
)


def marks(decorators: list[ast.expr]) -> frozenset[str]:
    """The decorators that skip a test or expect it to fail."""
    found = (d for d in decorators if last_name(d) in SKIPS)
    return frozenset(last_name(d) + key(d, {}) for d in found)


def class_marks(body: list[ast.stmt]) -> frozenset[str]:
    """The skips of a `pytestmark`, at the level of a class or a module."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.Assign) and any(dotted(target) == "pytestmark" for target in node.targets):
            value = node.value
            found |= marks(value.elts if isinstance(value, ast.List | ast.Tuple) else [value])
    return frozenset(found)


def skipping(node: ast.AST) -> Iterator[str]:
    """Calls that end a test as skipped, wherever they stand in it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            path = dotted(part.func)
            name = path.rpartition(".")[2]
            known = path.startswith(("pytest.", "self.", "unittest.")) or name in (
                "SkipTest",
                "skipTest",
                "importorskip",
            )
            if name in _SKIPPING_CALLS and known:
                yield f"{name}{len(part.args)}"
        elif isinstance(part, ast.Raise) and part.exc is not None and last_name(part.exc) == "SkipTest":
            yield "SkipTest"


def module_skips(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for mark in class_marks(tree.body):
        yield mark, 0
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from ((found, node.lineno) for found in skipping(node))


def uncollected_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What is taken out of the collection: `__test__ = False`, `collect_ignore`, a deleted or overwritten test."""
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign | ast.Delete) else []:
            name, path = last_name(target), dotted(target)
            if name == "__test__" or name.startswith("collect_ignore"):
                yield f"{path} = {key(node.value, {}) if isinstance(node, ast.Assign) else ''}", target.lineno
            elif name in defined and name.lower().startswith("test"):
                yield f"{path} is taken away", target.lineno
        if isinstance(node, ast.Call) and folded(node.args[1] if len(node.args) > 1 else None) == "__test__":
            yield "setattr __test__", node.lineno


def imported_by(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def rebound_in(tree: ast.Module, imported: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Imported names, and attributes of imported things, that the module's own code replaces; and tests by imports."""
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}
    defined = False
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                defined = True
                if name in imported:
                    yield name, node.lineno
            case ast.Assign(targets=targets):
                for target in targets:
                    path = dotted(target)
                    replaced = isinstance(target, ast.Name | ast.Attribute) and path.partition(".")[0] in imported
                    if replaced or (isinstance(target, ast.Subscript) and path in ("globals", "vars", "locals")):
                        yield path, node.lineno
            case ast.ImportFrom(names=names) if any(n.name in tests or (n.name == "*" and defined) for n in names):
                yield "tests, by an import", node.lineno
            case ast.Expr(value=ast.Call() as call) if dotted(call.func) in _REBINDING:
                yield dotted(call.func), node.lineno


def overridden_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Methods and attributes of unittest's test case that decide what counts as passed."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef) and owner.bases:
            for node in owner.body:
                names = [node.name] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
                names = list(map(last_name, node.targets)) if isinstance(node, ast.Assign) else names
                yield from ((f"{owner.name}.{name}", node.lineno) for name in names if name in _DECIDING)
