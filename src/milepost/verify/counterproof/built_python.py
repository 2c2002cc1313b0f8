"""Other values in the objects that a Python test builds to compare with: `Vector(7, 3)`, not `Vector(4, 6)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from milepost.sources.python_tree import last_name
from milepost.verify.counterproof.edits import Edit, PythonText
from milepost.verify.counterproof.python_tests import Function
from milepost.verify.witness.guest.other import NoOther, Other


class Built:
    """What a test builds with classes of the product, whose files these are.

    `compared` are its names that it does nothing with but compare, with the values that they may have.
    """

    def __init__(
        self, read: PythonText, draw: Other, product: Iterable[str], compared: Mapping[str, Iterable[ast.expr]]
    ) -> None:
        self._read = read
        self._draw = draw
        self._compared = compared
        self._names = frozenset(_names_from(read.tree, product))

    def other(self, left: ast.expr, right: ast.expr) -> tuple[Edit, ...]:
        """Edits of all literals in the side that is built; in the right one where both are."""
        return tuple(self._of(right)) or tuple(self._of(left))

    def _of(self, side: ast.expr) -> Iterator[Edit]:
        match side:
            case ast.Name(id=name):
                for value in self._compared.get(name, ()):
                    if not isinstance(value, ast.Name):
                        yield from self._of(value)
            case ast.Call(func=func, args=args, keywords=keywords) if self._builds(func):
                for part in (*args, *(each.value for each in keywords)):
                    yield from self._literals(part)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                for part in parts:
                    yield from self._of(part)

    def _builds(self, called: ast.expr) -> bool:
        """Whether this is a class of the product by its name, or a way to make one: `Vector`, `shapes.Vector.of`."""
        text = ast.unparse(called)
        words = text.split(".")
        return "(" not in text and words[0] in self._names and any(word[:1].isupper() for word in words)

    def _literals(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Constant) and node.value not in (None, ...):
            try:
                yield self._read.instead(node, repr(self._draw(node.value)))
            except NoOther:
                return
        elif not isinstance(node, ast.Subscript | ast.JoinedStr | ast.Lambda):
            for child in ast.iter_child_nodes(node):
                yield from self._literals(child)


def given(function: Function, name: str) -> Iterator[ast.expr]:
    """The values that a test is given for a parameter by `pytest.mark.parametrize`."""
    for call in function.decorator_list:
        if not (isinstance(call, ast.Call) and last_name(call.func) == "parametrize" and len(call.args) > 1):
            continue
        names, rows = call.args[:2]
        told = names.value if isinstance(names, ast.Constant) and isinstance(names.value, str) else ""
        listed = names.elts if isinstance(names, ast.List | ast.Tuple) else ()
        words = [word.strip() for word in told.split(",")] or []
        words = [str(each.value) for each in listed if isinstance(each, ast.Constant)] or words
        if name not in words or not isinstance(rows, ast.List | ast.Tuple):
            continue
        for row in rows.elts:
            values = row.args if isinstance(row, ast.Call) and last_name(row.func) == "param" else None
            if values is None:
                values = row.elts if len(words) > 1 and isinstance(row, ast.List | ast.Tuple) else [row]
            if len(values) == len(words):
                yield values[words.index(name)]


def _names_from(tree: ast.Module, product: Iterable[str]) -> Iterator[str]:
    """The names that a test file imports from the product."""
    parts = {part for path in product for part in path.removesuffix(".py").split("/")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").partition(".")[0] in parts):
            yield from (each.asname or each.name for each in node.names)
        elif isinstance(node, ast.Import):
            named = [each for each in node.names if each.name.partition(".")[0] in parts]
            yield from (each.asname or each.name.partition(".")[0] for each in named)
