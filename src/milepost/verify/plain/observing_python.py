"""A Python test file as a plain module whose values can be replaced, and which says what it asks of the product."""

# ruff: noqa: N802 -- the names are those of `ast.NodeVisitor`

from __future__ import annotations

import ast

from milepost.verify.plain.python_file import KIT, Neutral, PlainFile, plain_python

_AS_THEY_ARE = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "isinstance", "getattr", "open"})
_NAMES = frozenset({"setattr", "delattr", "getattr", "setenv", "delenv", "setitem", "patch", "import_module", "encode"})


def observing_python(source: bytes, path: str = "") -> PlainFile:
    """The plain module of a file of tests, where no claim fails, each literal can be another, and calls are seen."""
    return plain_python(source, path, _Observing)


class _Observing(Neutral):
    """Literals are what `_kit.given` makes of them, functions what `_kit.seen` does; claims are only looked at."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        looked = ast.Expr(self._without_answer(node.test))
        return ast.Try([looked], [ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])], [], [])

    def _without_answer(self, test: ast.expr) -> ast.expr:
        """What is compared; a literal at the side of a comparison is no input."""
        if isinstance(test, ast.Compare):
            sides = [test.left, *test.comparators]
            asked = [side for side in sides if not _is_literal(side)] or sides[:1]
            return ast.Tuple([self.visit(side) for side in asked], ast.Load())
        if isinstance(test, ast.BoolOp):
            return ast.Tuple([self._without_answer(value) for value in test.values], ast.Load())
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._without_answer(test.operand)
        found: ast.expr = self.visit(test)
        return found

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == "parametrize":
            node.args[1:] = [self.visit(each) for each in node.args[1:]]
            node.func = self.visit(node.func)
            return node
        kept = node.args[:1] if name in _NAMES else []
        node.args = [*kept, *(self.visit(each) for each in node.args[len(kept) :])]
        for keyword in node.keywords:
            if keyword.arg not in ("match", "encoding", "mode", "newline", "errors"):
                keyword.value = self.visit(keyword.value)
        node.func = self.visit(node.func)
        if name in _AS_THEY_ARE:
            return node
        node.func = _asked("seen", node.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if _is_literal(node):
            return _asked("given", node)
        self.generic_visit(node)
        sign = type(node.op).__name__
        names = [ast.arg("a"), ast.arg("b")]
        applied = ast.BinOp(ast.Name("a", ast.Load()), node.op, ast.Name("b", ast.Load()))
        function = ast.Lambda(ast.arguments([], names, None, [], [], None, []), applied)
        return _asked("joined", ast.Constant(sign), function, node.left, node.right)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        plain = isinstance(node.value, str | bytes | int | float) and not isinstance(node.value, bool)
        return _asked("given", node) if plain and node.value not in ("", b"") else node

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._display(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._display(node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return self._display(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        if _is_literal(node):
            return _asked("given", node)
        node.values = [self.visit(value) for value in node.values]
        return node

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> ast.AST:
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node
        return _asked("given", node) if _is_literal(node) else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        if not isinstance(node.slice, ast.Constant | ast.Slice):
            node.slice = self.visit(node.slice)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        return node


def _asked(name: str, *given: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(KIT, ast.Load()), name, ast.Load()), list(given), [])


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
