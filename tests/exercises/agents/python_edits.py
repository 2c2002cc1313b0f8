"""Changes to the functions of a Python source text, by name."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable

Function = ast.FunctionDef | ast.AsyncFunctionDef
Rewrite = Callable[[Function, str], str]


def rewrite(text: str, names: tuple[str, ...], how: Rewrite) -> str:
    """The text with each named function, decorators included, replaced by what `how` gives for it."""
    lines = text.splitlines(keepends=True)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, Function) and node.name in names]
    for node in sorted(found, key=lambda node: node.lineno, reverse=True):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        source = textwrap.dedent("".join(lines[first : node.end_lineno]))
        new = textwrap.indent(how(node, source), " " * node.col_offset)
        lines[first : node.end_lineno] = [new + "\n" if new and not new.endswith("\n") else new]
    return "".join(lines)


def gone(_: Function, __: str) -> str:
    return ""


def renamed(node: Function, source: str) -> str:
    return source.replace(f"def {node.name}", f"def checked_{node.name}", 1)


def decorated(decorator: str) -> Rewrite:
    return lambda _, source: f"{decorator}\n{source}"


def with_body(make: Callable[[list[ast.stmt]], list[ast.stmt]]) -> Rewrite:
    """Each function with another body, everything else of it kept."""

    def how(node: Function, _: str) -> str:
        node.body = make(node.body) or [ast.Pass()]
        return ast.unparse(ast.fix_missing_locations(node))

    return how


def statements(source: str) -> list[ast.stmt]:
    return ast.parse(source).body


class _Asserts(ast.NodeTransformer):
    """Replaces every assertion, bare, by method or by context, by what `make` gives for it."""

    def __init__(self, make: Callable[[ast.stmt], list[ast.stmt]]) -> None:
        self.make = make

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return self.make(node)

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return self.make(node) if "self.assert" in ast.unparse(node) else [node]

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        if "raises" in ast.unparse(node.items[0]).lower():
            node.items[0] = ast.withitem(context_expr=_expression("__import__('contextlib').suppress(Exception)"))
        return node


def asserts(make: Callable[[ast.stmt], list[ast.stmt]]) -> Rewrite:
    def each(body: list[ast.stmt]) -> list[ast.stmt]:
        module = _Asserts(make).visit(ast.Module(body=body, type_ignores=[]))
        return list(module.body)

    return with_body(each)


def or_true(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.Assert):
        return [ast.Assert(test=ast.BoolOp(op=ast.Or(), values=[node.test, ast.Constant(True)]))]
    return statements(f"self.assertTrue({_first_argument(node)} or True)")


def expected_from_itself(node: ast.stmt) -> list[ast.stmt]:
    """What is expected becomes whatever comes out."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        return statements(f"assert {(left := ast.unparse(node.test.left))} == {left}")
    if isinstance(node, ast.Assert):
        return statements("assert 1 == 1")
    first = _first_argument(node)
    return statements(f"self.assertEqual({first}, {first})")


def within_anything(node: ast.stmt) -> list[ast.stmt]:
    """A tolerance that nothing can miss."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        left, right = ast.unparse(node.test.left), ast.unparse(node.test.comparators[0])
        return statements(f"assert abs(float({left}) - float(str({right}).split()[0])) < 1e9")
    return [node]


def swallowed(body: list[ast.stmt]) -> list[ast.stmt]:
    trial = statements("try:\n    pass\nexcept Exception:\n    pass")
    assert isinstance(trial[0], ast.Try)
    trial[0].body = body
    return trial


def returned_early(body: list[ast.stmt]) -> list[ast.stmt]:
    return [*statements("if True:\n    return"), *body]


def _first_argument(node: ast.stmt) -> str:
    assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return ast.unparse(node.value.args[0])


def _expression(source: str) -> ast.expr:
    node = ast.parse(source, mode="eval")
    return node.body
