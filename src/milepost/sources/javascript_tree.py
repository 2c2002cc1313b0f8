"""JavaScript and TypeScript as a syntax tree, and the text of its nodes without what a formatter may change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration", "method_definition"})
MOST_PARTS = 20
LARGEST_PARSED = 200_000  # bytes: the parser takes time that grows with the square of the errors in a file
_AN_ERROR = b"("

_OMITTED = frozenset({"comment", "html_comment", ";"})
_TYPES = frozenset({"type_annotation", "type_arguments"})


def parsed(path: str, source: str) -> Node:
    """The root of a file's tree; what cannot be parsed is in it as errors, and a file that is too large as only one."""
    content = source.encode("utf-8", "replace")
    kinds = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}
    kind = kinds.get(PurePosixPath(path).suffix.lower(), "javascript")
    return _parser(kind).parse(content if len(content) <= LARGEST_PARSED else _AN_ERROR).root_node


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the file."""
    todo = [node]
    while todo:
        current = todo.pop()
        yield current
        todo += reversed(current.children)


def text_of(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def line_of(node: Node) -> int:
    return node.start_point[0] + 1


def key(node: Node, values: Mapping[str, str]) -> str:
    """The tokens of a node: comments, types, semicolons, trailing commas and the kind of quotes make no difference."""
    words: list[str] = []
    todo = [node]
    while todo:
        current = todo.pop()
        if current.type in _OMITTED or current.type in _TYPES:
            continue
        if current.type == "string":
            words.append(repr(string(current)))
        elif not current.children:
            text = text_of(current)
            if text in (")", "]", "}") and words and words[-1] == ",":
                words.pop()
            words.append(values.get(text, text) if current.type == "identifier" else text)
        else:
            todo += reversed(current.children)
    return " ".join(words)


def digest(text: str) -> str:
    return "#" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def string(node: Node | None) -> str:
    """The text of a string made of constants only (`"VI" + "TEST"`), empty for anything else."""
    if node is None:
        return ""
    if node.type == "string":
        return "".join(text_of(child) for child in node.named_children)
    if node.type == "template_string" and not any(child.type == "template_substitution" for child in node.children):
        return text_of(node).strip("`")
    if node.type == "parenthesized_expression" and node.named_children:
        return string(node.named_children[0])
    return _sum(node) if node.type == "binary_expression" else ""


def _sum(node: Node) -> str:
    """The text of strings added to each other; a sum nests to the left, as deep as it is long."""
    parts: list[str] = []
    current: Node | None = node
    while current is not None and current.type == "binary_expression" and len(parts) < MOST_PARTS:
        right = current.child_by_field_name("right")
        if (
            text_of(current.child_by_field_name("operator")) != "+"
            or right is None
            or right.type == "binary_expression"
        ):
            return ""
        parts.append(string(right))
        current = current.child_by_field_name("left")
    parts.append(string(current) if current is not None and current.type != "binary_expression" else "")
    return "".join(reversed(parts)) if all(parts) else ""


def dotted(node: Node | None) -> str:
    """`a.b.c` for identifiers, members and subscripts by constant strings; calls give what is called."""
    parts: list[str] = []
    while node is not None:
        match node.type:
            case "identifier" | "this" | "super" | "import" | "property_identifier" | "meta_property":
                parts.append(text_of(node))
                node = None
            case "member_expression":
                parts.append(text_of(node.child_by_field_name("property")))
                node = node.child_by_field_name("object")
            case "subscript_expression":
                parts.append(string(node.child_by_field_name("index")) or "[]")
                node = node.child_by_field_name("object")
            case "call_expression":
                called = text_of(node.child_by_field_name("function"))
                arguments = node.child_by_field_name("arguments")
                if called == "require" and arguments is not None and arguments.named_children:
                    parts.append(string(arguments.named_children[0]).removeprefix("node:"))
                    node = None
                else:
                    node = node.child_by_field_name("function")
            case "parenthesized_expression" | "await_expression" | "non_null_expression" | "as_expression":
                node = node.named_children[0] if node.named_children else None
            case _:
                node = None
    return ".".join(reversed(parts))


def arguments_of(call: Node) -> list[Node]:
    found = call.child_by_field_name("arguments")
    return [child for child in found.named_children if child.type != "comment"] if found is not None else []


@cache
def _parser(kind: str) -> Parser:
    import tree_sitter_javascript
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    languages = {
        "javascript": tree_sitter_javascript.language,
        "typescript": tree_sitter_typescript.language_typescript,
        "tsx": tree_sitter_typescript.language_tsx,
    }
    return Parser(Language(languages[kind]()))
