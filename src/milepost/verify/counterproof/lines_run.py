"""Which lines of the product tests run: each statement of its functions says so first."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import parsed, walk
from milepost.verify.counterproof.edits import Edit, PythonText, is_python, read_python, spliced
from milepost.verify.counterproof.languages import language_of
from milepost.verify.counterproof.sabotage_javascript import unchecked

if TYPE_CHECKING:
    from tree_sitter import Node

_BODIES = frozenset({"statement_block", "class_body", "switch_body"})
_BLOCKS = frozenset({"statement_block", "switch_case", "switch_default"})


def noting(path: str, source: bytes, seen: str) -> bytes | None:
    """The file with a call of `seen`, told path and line, before each statement; None where nothing can be noted."""
    if language_of(path) == "Python":
        read = read_python(source)
        if read is None:
            return None
        edits = [read.before(each, f"{seen}({path!r}, {each.lineno})") for each in _statements(read, read.tree)]
        changed = spliced(read.text, edits)
        return changed if edits and is_python(changed) else None
    root = parsed(path, source.decode("utf-8", "replace"))
    call = f"globalThis.{seen}?.({json.dumps(path)}, "
    edits = [edit for node in _nodes(root) for edit in _noting(node, call)]
    changed = spliced(source, edits)
    broken = not edits or root.has_error or parsed(path, changed.decode("utf-8", "replace")).has_error
    return None if broken else unchecked(path, changed)


def lines_of(path: str, source: bytes, begun: frozenset[int]) -> frozenset[int]:
    """The lines of the statements that begin in these: of one that holds others, those before the others."""
    found: set[int] = set()
    if language_of(path) == "Python":
        read = read_python(source)
        for each in _statements(read, read.tree) if read is not None else ():
            found.update(_header(each) if each.lineno in begun else ())
        return frozenset(found)
    for node in _nodes(parsed(path, source.decode("utf-8", "replace"))):
        first = node.start_point.row + 1
        inner = min((each.start_point.row + 1 for each in walk(node) if each.type in _BODIES), default=0)
        found.update(range(first, (inner or node.end_point.row + 1) + 1) if first in begun else ())
    return frozenset(found)


def _statements(read: PythonText, node: ast.AST, *, inside: bool = False) -> Iterator[ast.stmt]:
    """The statements of functions; a docstring is none, and nothing can stand before an `elif`."""
    inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for child in ast.iter_child_nodes(node):
        if inside and isinstance(child, ast.stmt) and not _is_text(child) and not _is_elif(read, child):
            yield child
        yield from _statements(read, child, inside=inside)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_elif(read: PythonText, node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and read.text.startswith(b"elif", read.start(node))


def _header(node: ast.stmt) -> Iterator[int]:
    """The lines of a statement without those in it, and of the conditions of each `elif` after an `if`."""
    inner = [each.lineno for each in ast.walk(node) if isinstance(each, ast.stmt) and each is not node]
    last = min(inner) - 1 if inner else node.end_lineno or node.lineno
    yield from range(node.lineno, max(last, node.lineno) + 1)
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _header(node.orelse[0])


def _nodes(root: Node) -> Iterator[Node]:
    """The statements in blocks, and the expressions that arrow functions are made of."""
    for node in walk(root):
        if node.type == "arrow_function":
            body = node.child_by_field_name("body")
            yield from (body,) if body is not None and body.type != "statement_block" else ()
        elif (
            node.parent is not None
            and node.parent.type in _BLOCKS
            and node.type.endswith(("_statement", "_declaration"))
        ):
            text = (
                node.type == "expression_statement" and node.named_children and node.named_children[0].type == "string"
            )
            yield from () if text else (node,)


def _noting(node: Node, call: str) -> Iterator[Edit]:
    line = node.start_point.row + 1
    if node.type.endswith(("_statement", "_declaration")):
        yield Edit(start=node.start_byte, end=node.start_byte, text=f"{call}{line}); ")
    else:
        yield Edit(start=node.start_byte, end=node.start_byte, text=f"({call}{line}), ")
        yield Edit(start=node.end_byte, end=node.end_byte, text=")")
