"""The text of a JavaScript expression that is made of constants only, found without running it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from milepost.verify.syntax.javascript_tree import arguments_of, string, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Lookup = Callable[["Node"], "Node | None"]
Value = str | list[str] | None

_MOST_STEPS = 150
_LONGEST = 4096


def text_value(node: Node | None, lookup: Lookup) -> str:
    """The text of a string expression (`'VI' + 'TEST'`, `atob('…')`), empty for anything else."""
    found = _value(node, lookup, iter(range(_MOST_STEPS)))
    return found if isinstance(found, str) else ""


def _value(node: Node | None, lookup: Lookup, steps: Iterator[int]) -> Value:
    if node is None or next(steps, None) is None:
        return None
    found = _found(node, lookup, steps)
    return found if found is not None and len(found) <= _LONGEST else None


def _found(node: Node, lookup: Lookup, steps: Iterator[int]) -> Value:
    if node.type == "string" and (plain := string(node)):
        return _unescaped(plain)
    match node.type:
        case "string" | "template_string" if not node.named_children:
            return ""
        case "parenthesized_expression" | "as_expression" | "non_null_expression" if node.named_children:
            return _value(node.named_children[0], lookup, steps)
        case "array":
            items = [_item(child, lookup, steps) for child in node.named_children if child.type != "comment"]
            return [item for item in items if item is not None] if None not in items else None
        case "identifier":
            return _value(lookup(node), lookup, steps)
        case "binary_expression" if text_of(node.child_by_field_name("operator")) == "+":
            left = _value(node.child_by_field_name("left"), lookup, steps)
            right = _value(node.child_by_field_name("right"), lookup, steps)
            return left + right if isinstance(left, str) and isinstance(right, str) else None
        case "template_string":
            return _template(node, lookup, steps)
        case "call_expression":
            return _called(node, lookup, steps)
        case _:
            return None


def _item(node: Node, lookup: Lookup, steps: Iterator[int]) -> str | None:
    if node.type == "number":
        return text_of(node)
    found = _value(node, lookup, steps)
    return found if isinstance(found, str) else None


def _template(node: Node, lookup: Lookup, steps: Iterator[int]) -> Value:
    parts: list[str] = []
    for child in node.named_children:
        inner = child.named_children[0] if child.type == "template_substitution" and child.named_children else None
        found = _value(inner, lookup, steps) if inner is not None else text_of(child)
        if not isinstance(found, str):
            return None
        parts.append(found)
    return "".join(parts)


def _called(node: Node, lookup: Lookup, steps: Iterator[int]) -> Value:
    function = node.child_by_field_name("function")
    called = text_of(function)
    given = [_item(argument, lookup, steps) for argument in arguments_of(node)]
    if any(argument is None for argument in given):
        return None
    arguments = [argument for argument in given if argument is not None]
    if called in ("String.fromCharCode", "String.fromCodePoint"):
        return "".join(map(_character, arguments))
    if called in ("atob", "globalThis.atob") and arguments:
        return _decoded(arguments[0], "base64")
    if called == "Buffer.from":
        return _decoded(arguments[0], arguments[1] if len(arguments) > 1 else "utf8") if arguments else None
    if function is None or function.type != "member_expression":
        return None
    owner = _value(function.child_by_field_name("object"), lookup, steps)
    return _method(owner, text_of(function.child_by_field_name("property")), arguments)


def _method(owner: Value, name: str, arguments: list[str]) -> Value:
    first = arguments[0] if arguments else ""
    if isinstance(owner, list):
        match name:
            case "join":
                return (first if arguments else ",").join(owner)
            case "reverse" | "toReversed":
                return owner[::-1]
            case _:
                return None
    if owner is None:
        return None
    match name:
        case "toLowerCase":
            return owner.lower()
        case "toUpperCase":
            return owner.upper()
        case "trim" | "toString" | "normalize":
            return owner
        case "split":
            return owner.split(first) if first else list(owner)
        case "concat":
            return owner + "".join(arguments)
        case "replace" | "replaceAll" if len(arguments) > 1 and len(owner) < _LONGEST:
            return owner.replace(first, arguments[1], -1 if name == "replaceAll" else 1)
        case _:
            return None


def _character(number: str) -> str:
    try:
        return chr(int(number, 0))
    except (ValueError, OverflowError):
        return ""


def _decoded(text: str, how: str) -> str | None:
    try:
        if how == "hex":
            return bytes.fromhex(text).decode("latin-1")
        return base64.b64decode(text).decode("latin-1") if how.startswith("base64") else text
    except (ValueError, binascii.Error):
        return None


def _unescaped(text: str) -> str:
    """`\\x50` and `\\u0050` as what they stand for."""
    if "\\" not in text or len(text) > _LONGEST:
        return text
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except ValueError:
        return text
