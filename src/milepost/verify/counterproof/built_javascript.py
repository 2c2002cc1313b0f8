"""Other values in the objects that a JavaScript test builds to compare with: `new Money(7, "EUR")` for another one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import arguments_of, string, text_of, walk
from milepost.verify.counterproof.edits import Edit

if TYPE_CHECKING:
    from tree_sitter import Node

_PRODUCT = re.compile(r"\.|#|~/|@/|src/")
_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})


def names_of_product(root: Node) -> frozenset[str]:
    """The names that a test file imports from other files of the repository."""
    found: set[str] = set()
    for node in walk(root):
        if node.type == "import_statement":
            source = string(node.child_by_field_name("source"))
        elif node.type == "variable_declarator":
            value = node.child_by_field_name("value")
            source = next((path for each in walk(value) if (path := _required(each))), "") if value is not None else ""
        else:
            continue
        if _PRODUCT.match(source):
            named = node.child_by_field_name("name") or node
            found |= {text_of(each) for each in walk(named) if each.type in _NAMES}
    return frozenset(found)


def _required(node: Node) -> str:
    """What `require("./money")` and `import("./money")` name."""
    if node.type != "call_expression" or text_of(node.child_by_field_name("function")) not in ("require", "import"):
        return ""
    return "".join(string(each) for each in arguments_of(node)[:1])


def other_objects(node: Node, names: frozenset[str], other: Callable[[Node], Edit | None]) -> tuple[Edit, ...]:
    """Edits of all literals in what is built with classes of these names; `other` makes that of a literal."""
    return tuple(_of(node, names, other))


def _of(node: Node, names: frozenset[str], other: Callable[[Node], Edit | None]) -> Iterator[Edit]:
    if node.type in ("new_expression", "call_expression"):
        called = node.child_by_field_name("constructor") or node.child_by_field_name("function")
        words = text_of(called).split(".")
        if words[0] in names and any(word[:1].isupper() for word in words) and all(map(str.isidentifier, words)):
            for each in arguments_of(node):
                yield from _literals(each, other)
    elif node.type in ("array", "object", "pair"):
        for child in node.named_children:
            yield from _of(child, names, other)


def _literals(node: Node, other: Callable[[Node], Edit | None]) -> Iterator[Edit]:
    if node.type in ("number", "string", "template_string", "true", "false"):
        edit = other(node)
        yield from () if edit is None else (edit,)
    elif node.type != "subscript_expression" and not node.type.endswith("function"):
        parts = [node.child_by_field_name("value")] if node.type == "pair" else node.named_children
        for part in parts:
            if part is not None:
                yield from _literals(part, other)
