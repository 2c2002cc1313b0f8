"""A JavaScript test file whose values can be replaced, and which says what it asks of the product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import FUNCTIONS, arguments_of, dotted, parsed, string, text_of, walk
from milepost.verify.counterproof.edits import Edit, spliced
from milepost.verify.plain.javascript_file import GLOBALS, RUNNERS, PlainScript, plain_javascript

if TYPE_CHECKING:
    from tree_sitter import Node

KIT = "_kit"

_CLAIMS = frozenset({"assert", "node:assert", "assert/strict", "node:assert/strict"})
_LITERALS = frozenset({"string", "number"})
_AS_THEY_ARE = frozenset({"require", "import", "super", "String", "Symbol"})
_STEPS = frozenset(GLOBALS) | {"context", "specify"}


def observing_javascript(path: str, source: bytes, folder: Path, room: Path) -> PlainScript:
    """The plain module of a file of tests, where no claim fails, each literal can be another, and calls are seen."""
    root = parsed(path, source.decode("utf-8", "replace"))
    if root.has_error:
        return PlainScript(problem="it cannot be parsed")
    nodes = list(walk(root))
    edits = [edit for node in nodes for edit in _edits(node)]
    names = ", ".join(dict.fromkeys(_of_product(nodes)))
    changed = spliced(source, edits) + f"\n{KIT}.own({names});\n".encode()
    instead = {**dict.fromkeys(RUNNERS, room / "observe.cjs"), **dict.fromkeys(_CLAIMS, room / "claims.cjs")}
    plain = plain_javascript(path, changed, folder, room / "observe.cjs", instead)
    if plain.problem:
        return plain
    kit = room / "observe.cjs"
    head = f"import {KIT} from {json.dumps(kit.as_uri())};" if plain.is_module else _required(kit)
    return PlainScript(source=f"{head}\n".encode() + plain.source, is_module=plain.is_module)


def _required(kit: Path) -> str:
    return f"const {KIT} = require({json.dumps(str(kit))});"


def _edits(node: Node) -> Iterator[Edit]:
    if _is_literal(node) and not _stays(node):
        yield Edit(start=node.start_byte, end=node.start_byte, text=f"{KIT}.given(")
        yield Edit(start=node.end_byte, end=node.end_byte, text=")")
    elif node.type == "call_expression":
        yield from _of_call(node)
    elif node.type == "new_expression":
        made = node.child_by_field_name("constructor")
        if made is not None and made.type == "identifier":
            yield Edit(start=made.start_byte, end=made.start_byte, text=f"({KIT}.maker(")
            yield Edit(start=made.end_byte, end=made.end_byte, text="))")
    elif node.type == "property_identifier" and _is_key(node):
        name = text_of(node)
        yield Edit(start=node.start_byte, end=node.end_byte, text=f"[{KIT}.key({json.dumps(name)})]")


def _of_call(node: Node) -> Iterator[Edit]:
    function = node.child_by_field_name("function")
    if function is None or dotted(function).partition(".")[0] in _AS_THEY_ARE | _STEPS:
        return
    if function.type == "identifier":
        yield Edit(start=function.start_byte, end=function.start_byte, text=f"{KIT}.seen(")
        yield Edit(start=function.end_byte, end=function.end_byte, text=")")
    elif function.type == "member_expression" and not any(one.type == "optional_chain" for one in function.children):
        owner, name = (function.child_by_field_name(field) for field in ("object", "property"))
        if owner is None or name is None or name.type != "property_identifier" or owner.type == "super":
            return
        yield Edit(start=owner.start_byte, end=owner.start_byte, text=f"{KIT}.seen(")
        yield Edit(start=owner.end_byte, end=function.end_byte, text=f", {json.dumps(text_of(name))})")


def _is_literal(node: Node) -> bool:
    return node.type in _LITERALS or (node.type == "array" and _is_whole(node))


def _is_whole(node: Node) -> bool:
    """Whether an array holds nothing but literals."""
    inner = [child for child in node.named_children if child.type != "comment"]
    return bool(inner) and all(
        child.type in _LITERALS or (child.type == "array" and _is_whole(child)) for child in inner
    )


def _stays(node: Node) -> bool:
    """Whether a literal is no value of a test: a name, a title, a place, or a part of what is replaced as a whole."""
    above = node.parent
    if above is None or (above.type == "array" and _is_whole(above)):
        return True
    if above.type in ("import_statement", "export_statement", "expression_statement", "subscript_expression"):
        return True
    if above.type == "member_expression" or (above.type == "pair" and above.child_by_field_name("key") == node):
        return True
    if above.type != "arguments" or above.parent is None or above.parent.type != "call_expression":
        return above.type in ("method_definition", "public_field_definition", "field_definition", "import_attribute")
    called = above.parent.child_by_field_name("function")
    words = dotted(called).split(".")
    given = arguments_of(above.parent)
    is_title = words[0] in _STEPS | {"t"} and bool(given) and given[-1].type in FUNCTIONS
    return words[0] in ("require", "import") or is_title or (called is not None and called.type == "import")


def _is_key(node: Node) -> bool:
    """Whether a name is a key of an object of values, which a string may stand for elsewhere."""
    return node.parent is not None and node.parent.type == "pair" and node.parent.child_by_field_name("key") == node


def _of_product(nodes: list[Node]) -> Iterator[str]:
    """The names that a file gives what it imports from beside it."""
    for node in nodes:
        if node.type == "import_statement" and string(node.child_by_field_name("source")).startswith("."):
            clause = next((child for child in node.named_children if child.type == "import_clause"), None)
            yield from _bound(clause) if clause is not None else ()
        elif node.type == "variable_declarator" and node.parent is not None:
            calls = [one for one in walk(node) if one.type == "call_expression"]
            loads = [one for one in calls if dotted(one.child_by_field_name("function")) in ("require", "import")]
            top = node.parent.parent is not None and node.parent.parent.type == "program"
            given = [arguments_of(one) for one in loads]
            if top and any(one and string(one[0]).startswith(".") for one in given):
                name = node.child_by_field_name("name")
                yield from _bound(name) if name is not None else ()


def _bound(node: Node) -> Iterator[str]:
    for each in walk(node):
        if each.type == "import_specifier":
            yield text_of(each.child_by_field_name("alias") or each.child_by_field_name("name"))
        elif each.type == "shorthand_property_identifier_pattern" or (
            each.type == "identifier" and (each.parent is None or each.parent.type != "import_specifier")
        ):
            yield text_of(each)
