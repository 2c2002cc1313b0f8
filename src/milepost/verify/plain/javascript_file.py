"""A JavaScript test file as a plain module: another module in the place of its runner's, and paths from the top."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import arguments_of, dotted, parsed, string, text_of, walk
from milepost.verify.judging.paths import suffix

if TYPE_CHECKING:
    from tree_sitter import Node

RUNNERS = frozenset({"node:test", "vitest", "@jest/globals"})
GLOBALS = (
    *("test", "it", "describe", "suite", "expect", "before", "after", "beforeAll", "afterAll"),
    *("beforeEach", "afterEach", "vi", "jest"),
)

_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts", ".jsx")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainScript:
    """The source, and whether it is an ES module; where it cannot be run plainly, `problem` says why."""

    source: bytes = b""
    is_module: bool = False
    problem: str = ""


def plain_javascript(
    path: str, source: bytes, folder: Path, kit: Path, instead: Mapping[str, Path] | None = None
) -> PlainScript:
    """The file at `path`, which stands in `folder`, with `kit` in the place of its runner.

    `instead` are files in the place of modules; where it is not given, that is `kit` for the runners.
    """
    instead = instead or dict.fromkeys(RUNNERS, kit)
    if suffix(path) in _TYPESCRIPT:
        return PlainScript(problem="it is compiled before it is run")
    root = parsed(path, source.decode("utf-8", "replace"))
    if root.has_error:
        return PlainScript(problem="it cannot be parsed")
    nodes = list(walk(root))
    own = list(_own_paths(nodes, folder / Path(path).name))
    if len(own) < sum(node.type == "meta_property" for node in nodes):
        return PlainScript(problem="it asks for more of itself than where it is")
    is_module = suffix(path) == ".mjs" or any(node.type in ("import_statement", "export_statement") for node in nodes)
    edits: list[tuple[int, int, str]] = own
    has_runner = False
    for place in _specifiers(nodes):
        name = string(place)
        is_import = place.parent is not None and place.parent.type in ("import_statement", "export_statement")
        uri = is_import or dotted(_called(place)) == "import"
        has_runner = has_runner or name in RUNNERS
        if suffix(name) in _TYPESCRIPT:
            return PlainScript(problem="it imports TypeScript")
        if name in instead or name.startswith("."):
            target = instead.get(name) or Path(os.path.normpath(folder / name))
            edits.append((place.start_byte, place.end_byte, json.dumps(target.as_uri() if uri else str(target))))
        if name.startswith(".") and is_import and place.parent is not None and place.parent.type == "import_statement":
            edits += _names_looked_up_later(place.parent, len(edits))
    text = _edited(source, edits)
    return PlainScript(source=text if has_runner else _with_globals(nodes, text, kit, is_module), is_module=is_module)


def _own_paths(nodes: list[Node], file: Path) -> Iterator[tuple[int, int, str]]:
    """Where the file asks for its own path, with what it would be told at its place."""
    told = {
        "__dirname": str(file.parent),
        "__filename": str(file),
        "import.meta.url": file.as_uri(),
        "import.meta.dirname": str(file.parent),
        "import.meta.filename": str(file),
    }
    for node in nodes:
        if node.type in ("identifier", "member_expression") and (text := text_of(node)) in told:
            yield node.start_byte, node.end_byte, json.dumps(told[text])


def _specifiers(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.type in ("import_statement", "export_statement"):
            if (found := node.child_by_field_name("source")) is not None:
                yield found
        elif node.type == "call_expression" and text_of(node.child_by_field_name("function")) in ("import", "require"):
            given = arguments_of(node)
            if given and given[0].type == "string":
                yield given[0]


def _called(place: Node) -> Node | None:
    call = place.parent.parent if place.parent is not None else None
    return call.child_by_field_name("function") if call is not None else None


def _names_looked_up_later(statement: Node, count: int) -> Iterator[tuple[int, int, str]]:
    """`import { a } from x` fails the whole file where x has no a: `import * as m from x; const { a } = m` does not."""
    clause = next((child for child in statement.named_children if child.type == "import_clause"), None)
    if clause is None or [child.type for child in clause.named_children] != ["named_imports"]:
        return
    names = []
    for each in clause.named_children[0].named_children:
        name, alias = (text_of(each.child_by_field_name(field)) for field in ("name", "alias"))
        names.append(f"{name}: {alias}" if alias else name)
    yield clause.start_byte, clause.end_byte, f"* as part{count}"
    yield statement.end_byte, statement.end_byte, f"; const {{ {', '.join(names)} }} = part{count};"


def _edited(source: bytes, edits: list[tuple[int, int, str]]) -> bytes:
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text.encode() + source[end:]
    return source


def _with_globals(nodes: list[Node], source: bytes, kit: Path, is_module: bool) -> bytes:
    """What the runner would have put there as globals, brought in by name: only this file sees it."""
    called = {dotted(node).partition(".")[0] for node in nodes if node.type == "call_expression"}
    names = ", ".join(name for name in GLOBALS if name in called)
    if not names:
        return source
    if is_module:
        return f"import {{ {names} }} from {json.dumps(kit.as_uri())};\n".encode() + source
    strict = "'use strict'; " if re.match(rb"\s*['\"]use strict['\"]", source) else ""
    return f"{strict}const {{ {names} }} = require({json.dumps(str(kit))});\n".encode() + source
