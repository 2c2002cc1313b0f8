"""The value of a Python expression that is made of constants only, found without running it."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

Lookup = Callable[[ast.Name], ast.expr | None]

_LONGEST = 4096
_MOST_STEPS = 2000
_WIDE = re.compile(r"\d{4}|\{[^{}]*[.\[:!]|\*")
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.BitXor: operator.xor,
    ast.FloorDiv: operator.floordiv,
}
_METHODS = frozenset(
    {"join", "lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "swapcase", "casefold", "replace"}
    | {"decode", "encode", "format", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix"}
    | {"translate", "hex"}
)
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "chr": chr,
    "ord": ord,
    "str": str,
    "int": int,
    "bytes": lambda value, *how: bytes(value, *how) if not isinstance(value, int) else None,
    "bytearray": lambda value, *how: bytearray(value, *how) if not isinstance(value, int) else None,
    "list": list,
    "tuple": tuple,
    "reversed": lambda value: list(reversed(value)),
    "sorted": sorted,
    "range": lambda *ends: list(range(*ends))[:_LONGEST] if all(abs(end) < _LONGEST for end in ends) else None,
    "zip": lambda *each: list(zip(*each, strict=False)),
    "bytes.fromhex": bytes.fromhex,
    "bytearray.fromhex": bytearray.fromhex,
    "str.maketrans": str.maketrans,
    "base64.b64decode": base64.b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.a2b_hex,
    "binascii.a2b_base64": binascii.a2b_base64,
    "codecs.decode": codecs.decode,
    "codecs.encode": codecs.encode,
    "str.join": str.join,
    "str.lower": str.lower,
    "str.upper": str.upper,
}
_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, MemoryError)


class _UnknownError(Exception):
    pass


def text_value(node: ast.AST | None, lookup: Lookup | None = None) -> str:
    """The text of a string expression (`"py" + "test"`, `bytes([112, 121]).decode()`), empty for anything else."""
    if not isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr | ast.Call | ast.Subscript | ast.Name):
        return ""
    try:
        value = _Reader(lookup).value(node, {})
    except (_UnknownError, *_ERRORS):
        return ""
    if isinstance(value, bytes | bytearray):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


class _Reader:
    """Reads one expression; what it is asked to do is bounded, whatever the expression says."""

    def __init__(self, lookup: Lookup | None) -> None:
        self._lookup = lookup
        self._steps = 0

    def value(self, node: ast.AST | None, names: Mapping[str, Any]) -> Any:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _UnknownError
        found = self._found(node, names)
        if isinstance(found, str | bytes | bytearray | list | tuple) and len(found) > _LONGEST:
            raise _UnknownError
        return found

    def _found(self, node: ast.AST | None, names: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant(value=str() | bytes() | int() as constant):
                return constant
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.Name() if self._lookup is not None and (stands_for := self._lookup(node)) is not None:
                return self.value(stands_for, {})
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.value(item, names) for item in items]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand, names)
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return _filled(self.value(left, names), self.value(right, names))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self.value(left, names), self.value(right, names))
            case ast.JoinedStr(values=values):
                return "".join(str(self.value(value, names)) for value in values)
            case ast.FormattedValue(value=value, format_spec=None):
                return self.value(value, names)
            case ast.Subscript(value=value, slice=index):
                return self._part(self.value(value, names), index, names)
            case ast.ListComp() | ast.GeneratorExp():
                return self._each(node, names)
            case ast.Call():
                return self._called(node, names)
            case _:
                raise _UnknownError

    def _part(self, value: Any, index: ast.expr, names: Mapping[str, Any]) -> Any:
        if isinstance(index, ast.Slice):
            ends = [end and self.value(end, names) for end in (index.lower, index.upper, index.step)]
            return value[slice(*ends)]
        return value[self.value(index, names)]

    def _each(self, node: ast.ListComp | ast.GeneratorExp, names: Mapping[str, Any]) -> list[Any]:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs:
            raise _UnknownError
        found = []
        for item in self.value(loop.iter, names):
            found.append(self.value(node.elt, {**names, **_bound(loop.target, item)}))
        return found

    def _called(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        if any(keyword.arg not in ("encoding", "errors") for keyword in node.keywords):
            raise _UnknownError
        path = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        if path == "map" and len(node.args) == 2:
            return self._mapped(node.args[0], self.value(node.args[1], names), names)
        if path in _FUNCTIONS or path.rpartition(".")[2] in ("b64decode", "unhexlify", "fromhex"):
            act = _FUNCTIONS.get(path) or _BY_LAST_NAME[path.rpartition(".")[2]]
            return act(*(self.value(argument, names) for argument in node.args))
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            owner = self.value(node.func.value, names)
            arguments = [self.value(argument, names) for argument in node.args]
            if isinstance(owner, str | bytes | bytearray) and not (
                node.func.attr == "format" and _WIDE.search(str(owner))
            ):
                return getattr(owner, node.func.attr)(*arguments)
        raise _UnknownError

    def _mapped(self, act: ast.expr, items: Any, names: Mapping[str, Any]) -> list[Any]:
        if isinstance(act, ast.Lambda) and len(act.args.args) == 1:
            name = act.args.args[0].arg
            return [self.value(act.body, {**names, name: item}) for item in items]
        path = ast.unparse(act)
        if path in _FUNCTIONS:
            return [_FUNCTIONS[path](item) for item in items]
        raise _UnknownError


_BY_LAST_NAME: Mapping[str, Callable[..., Any]] = {
    "b64decode": base64.b64decode,
    "unhexlify": binascii.unhexlify,
    "fromhex": bytes.fromhex,
}


def _filled(template: Any, values: Any) -> Any:
    """`%` for numbers and for texts, unless a text asks for more room than a name needs."""
    if isinstance(template, int):
        return template % values
    if not isinstance(template, str) or _WIDE.search(template):
        raise _UnknownError
    return template % (tuple(values) if isinstance(values, list) else values)


def _bound(target: ast.expr, item: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
        return {part.id: value for part, value in zip(target.elts, item, strict=True) if isinstance(part, ast.Name)}
    raise _UnknownError
