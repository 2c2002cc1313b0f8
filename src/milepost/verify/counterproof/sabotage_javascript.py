"""Sabotage of JavaScript and TypeScript: every function begins with a call that fails when a test reached it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import parsed, text_of, walk
from milepost.verify.counterproof.edits import Edit, spliced
from milepost.verify.judging.paths import suffix

if TYPE_CHECKING:
    from tree_sitter import Node

UNCHECKED = "// @ts-nocheck\n"  # the compiler does not know the names that are given at run time

_FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "method_definition", "generator_function"}
    | {"generator_function_declaration", "function"}
)
_FIELDS = frozenset({"field_definition", "public_field_definition"})


def sabotaged(path: str, source: bytes, trip: str) -> bytes | None:
    """The file with a call of `trip` at the head of every function; None where there is none, or it has errors."""
    root = parsed(path, source.decode("utf-8", "replace"))
    edits = tuple(edit for node in walk(root) for edit in _edits(node, f"{trip}()"))
    if not edits or root.has_error:
        return None
    changed = unchecked(path, spliced(source, edits))
    return None if parsed(path, changed.decode("utf-8", "replace")).has_error else changed


def unchecked(path: str, source: bytes) -> bytes:
    """The same without the compiler's look at types; a line that names an interpreter stays the first."""
    if not suffix(path).endswith(("ts", "tsx")) or source.startswith(b"#!"):
        return source
    return UNCHECKED.encode() + source


def _edits(node: Node, call: str) -> Iterator[Edit]:
    if node.type in _FUNCTIONS:
        body = node.child_by_field_name("body")
        if body is None:
            return
        if body.type == "statement_block":
            at = _behind_directives(body)
            yield Edit(start=at, end=at, text=f" {call}; ")
        else:
            yield Edit(start=body.start_byte, end=body.start_byte, text=f"({call}, ")
            yield Edit(start=body.end_byte, end=body.end_byte, text=")")
    elif node.type in _FIELDS:
        value = node.child_by_field_name("value")
        if value is not None and not any(child.type == "static" for child in node.children):
            yield Edit(start=value.start_byte, end=value.start_byte, text=f"({call}, ")
            yield Edit(start=value.end_byte, end=value.end_byte, text=")")


def _behind_directives(body: Node) -> int:
    """Behind the bracket, and behind what must come first: `"use strict"`; a call to `super` may come later."""
    at = body.start_byte + 1
    for child in body.named_children:
        if child.type == "expression_statement" and text_of(child).startswith(('"use ', "'use ")):
            at = child.end_byte
        elif child.type != "comment":
            break
    return at
