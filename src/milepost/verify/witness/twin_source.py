"""The twin of a test file: the same tests under the same names, made so that each of them must fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

# What a test method calls to compare two values.
EQUALITIES = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual"}
    | {"assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual", "assertAlmostEqual"}
)
# Packages of values that are equal to others by design.
WILDCARDS = ("unittest", "mock", "dirty_equals", "hamcrest", "callee")

_SUPPORT = """
class {name}:
    class Nothing:
        pass
    def __init__(self):
        self.forged = False
        self.went_on = False
    def __enter__(self):
        return self
    def __exit__(self, kind, problem, place):
        if self.forged:
            raise AssertionError({nonce!r} + "=")
        if kind is None and not self.went_on:
            raise AssertionError({nonce!r})
        return False
    def must_stop(self):
        self.went_on = True
    def equal(self, left, right):
        self.forged = self.forged or self.claims(left, 6) or self.claims(right, 6)
        return False
    def look(self, left, right):
        self.equal(left, right)
        return left == right
    def method(self, compare, left, right):
        self.equal(left, right)
        for one, other in ((left, self.Nothing()), (self.Nothing(), right)):
            try:
                compare(one, other)
            except Exception:
                pass
            else:
                self.forged = self.forged or not self.is_innocent(one) and not self.is_innocent(other)
        raise AssertionError({nonce!r})
    def claims(self, value, depth):
        if type(value) in (list, tuple, set, frozenset, dict) and depth:
            inner = [*value, *value.values()] if type(value) is dict else list(value)
            return any(self.claims(each, depth - 1) for each in inner[:1000])
        try:
            claim = bool(value == self.Nothing()) or bool(self.Nothing() == value)
        except Exception:
            claim = False
        if hasattr(type(value), "__dataclass_fields__") and depth:
            claim = claim or any(self.claims(each, depth - 1) for each in getattr(value, "__dict__", {{}}).values())
        return claim and not self.is_innocent(value)
    def is_innocent(self, value):
        import os
        if type(value).__module__.partition(".")[0] in {wild!r}:
            return True
        code = getattr(getattr(type(value), "__eq__", None), "__code__", None)
        file = os.path.relpath(getattr(code, "co_filename", os.sep))
        return any(part.startswith(("test", "conftest")) for part in file.split(os.sep))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """`tests` are those that have a twin in `source`, by class and function: `("TestA", "test_b")`."""

    source: str
    tests: frozenset[tuple[str, ...]]


def twin_of(
    source: str, wanted: frozenset[tuple[str, ...]], nonce: str, wild: tuple[str, ...] = WILDCARDS
) -> Twin | None:
    """The file with a twin for each wanted test that is in it; None when there is none, or it cannot be parsed.

    A twin does what its test does, but where the test compares two values the twin compares each with
    something that nothing equals. It fails there, or at its end: with `nonce`, or with `nonce` and `=`
    when a value claimed to be equal. A twin that passes was not run, or what it raised was lost. Values
    of a package in `wild`, and of classes that tests define, may equal what they like.
    """
    try:
        return _written(source, wanted, f"_W{nonce}", _SUPPORT.format(name=f"_W{nonce}", nonce=nonce, wild=wild))
    except (SyntaxError, ValueError):  # also quotes within an f-string that Python of this version cannot write out
        return None
    except (RecursionError, MemoryError):  # nested more deeply than can be parsed, changed or written out
        return None


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _written(source: str, wanted: frozenset[tuple[str, ...]], name: str, support: str) -> Twin | None:
    tree = ast.parse(source)
    found = {path: function for path in wanted if (function := _find(tree, path)) is not None}
    if not found:
        return None
    for function in dict.fromkeys(found.values()):
        _make_twin(function, name)
    at = _end_of_head(tree)
    tree.body[at:at] = ast.parse(support).body
    return Twin(source=ast.unparse(ast.fix_missing_locations(tree)) + "\n", tests=frozenset(found))


def _find(tree: ast.Module, path: tuple[str, ...]) -> _Function | None:
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
        if isinstance(function, _Function):
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
        if isinstance(node, ast.ClassDef | _Function) and node.name == name:
            found = node
    return found


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    for block in ("body", "orelse", "finalbody"):
        for node in getattr(scope, block, ()):
            yield node
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _statements(node)


def _make_twin(function: _Function, name: str) -> None:
    counterfeit = _Counterfeit(f"{name.lower()}_now")
    body = counterfeit.visit(ast.Module(body=function.body, type_ignores=[])).body
    item = ast.withitem(
        context_expr=ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[], keywords=[]),
        optional_vars=ast.Name(id=f"{name.lower()}_now", ctx=ast.Store()),
    )
    function.body = [ast.With(items=[item], body=body)]


class _Counterfeit(ast.NodeTransformer):
    """Replaces the comparisons of a test's own statements; those of functions and classes within are left alone."""

    def __init__(self, guard: str) -> None:
        self._guard = guard
        self._caught = 0
        self._replacements = 0

    def visit_Assert(self, node: ast.Assert) -> ast.AST | list[ast.stmt]:
        replaced_before = self._replacements
        node.test = self._replaced(node.test)
        if self._caught or self._replacements == replaced_before:
            return node
        return [ast.Expr(value=self._call("must_stop")), node]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in EQUALITIES or len(node.args) < 2:
            return node
        if not isinstance(function.value, ast.Name) or function.value.id != "self":
            return node
        left, right, *_ = node.args
        if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
            return node
        return self._call("method", function, left, right)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        return self._where_failures_may_be_caught(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        return self._where_failures_may_be_caught(node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        return self._where_failures_may_be_caught(node)

    def visit_TryStar(self, node: ast.TryStar) -> ast.AST:
        return self._where_failures_may_be_caught(node)

    def _where_failures_may_be_caught(self, node: ast.stmt) -> ast.AST:
        self._caught += 1
        self.generic_visit(node)
        self._caught -= 1
        return node

    def _replaced(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            test.values = [self._replaced(value) for value in test.values]
            return test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            self._replacements += 1
            return self._call("equal", test.left, test.comparators[0])
        return cast(ast.expr, self.visit(test))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Of a comparison whose result is used for something else, only the values are looked at."""
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            return self._call("look", node.left, node.comparators[0])
        return node

    def _call(self, method: str, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(value=ast.Name(id=self._guard, ctx=ast.Load()), attr=method, ctx=ast.Load())
        return ast.Call(func=function, args=list(arguments), keywords=[])


def _end_of_head(tree: ast.Module) -> int:
    """Behind the docstring and the imports from the future, which must come first."""
    at = 0
    for number, node in enumerate(tree.body):
        is_text = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            at = number + 1
        else:
            break
    return at
