"""JavaScript and TypeScript: imports, re-exports, and lists of a name or a string a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import parsed, text_of, walk
from milepost.workspace.reconcile.file_kind import Kind, Proposed, newly, one_a_line, repeated
from milepost.workspace.reconcile.list_entries import Inline, Lines, ListEntry, ListReading

if TYPE_CHECKING:
    from tree_sitter import Node

_FROM = r"from\s+(?P<quote>['\"])[^'\"]+(?P=quote)\s*;?"
_IMPORT = re.compile(
    rf"\s*(?:import\s+(?:type\s+)?[\w$*{{}},\s]+\s{_FROM}|import\s+(['\"])[^'\"]+\2\s*;?"
    rf"|export\s+(?:type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|{{[^{{}}]*}})\s+(?:{_FROM.replace('quote', 'other')})"
    r"|(?:const|let|var)\s+(?:[\w$]+|{[\w$\s,:]*})\s*=\s*require\((['\"])[^'\"]+\4\)\s*;?)\s*"
)
_GROWING = re.compile(
    rf"(\s*(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?{{\s*)([\w$\s,]+?)(,?\s*}}\s*{_FROM}\s*)"
)
_SOURCE = re.compile(r"['\"]([^'\"]+)['\"]")
_ITEM = re.compile(
    r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?:type\s+)?[A-Za-z_$][\w$.]*(?:\s+as\s+[\w$]+)?)\s*(,?)\s*"
)
_ABOUT_NEXT_LINE = re.compile(r"@ts-ignore|@ts-expect-error|-next-line")
_STATEMENTS = frozenset({"import_statement", "export_statement", "lexical_declaration", "variable_declaration"})
_CONTAINERS = frozenset({"array", "named_imports", "export_clause"})
_DECLARATIONS = frozenset({"function_declaration", "class_declaration", "variable_declarator"})


def _imports(lines: Lines) -> tuple[ListEntry, ...] | None:
    return one_a_line(
        lines, lambda line: ListEntry(key=line.strip(), lines=(line,)) if _IMPORT.fullmatch(line) else None
    )


def _grown_imports(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Imports that are one for each module, to which both sides may have added names."""

    def entry(line: str) -> ListEntry | None:
        found = _GROWING.fullmatch(line)
        if found is None:
            return ListEntry(key=line.strip(), lines=(line,)) if _IMPORT.fullmatch(line) else None
        head, items, tail = found[1], found[2], found[3]
        inline = Inline(head=head, items=tuple(item.strip() for item in items.split(",")), tail=tail)
        return ListEntry(key=f"{head.strip()} {tail.strip()}", lines=(line,), inline=inline)

    return one_a_line(lines, entry)


def _items(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Names and strings, a line each; only the last may be without its comma."""
    matches = [_ITEM.fullmatch(line) for line in lines]
    if any(match is None or (not match[2] and match is not matches[-1]) for match in matches):
        return None
    return tuple(
        ListEntry(key=match[1], lines=(line if match[2] else f"{line.rstrip()},",))
        for line, match in zip(lines, matches, strict=True)
        if match is not None
    )


def _holds(proposed: Proposed) -> bool:
    """Whether it parses, every line stands where it means what it was read as, and no name is declared twice."""
    path = proposed.path
    root = parsed(path, proposed.result)
    if root.has_error or newly(lambda text: repeated(_names(parsed(path, text))), proposed):
        return False
    lines = proposed.result.split("\n")
    for spot in proposed.spots:
        if spot.first > 1 and _ABOUT_NEXT_LINE.search(lines[spot.first - 2]):
            return False
        nodes = [_node_of(root, number, lines[number - 1], spot.reading == "items") for number in spot.filled]
        if any(node is None for node in nodes) or len({node.parent.id for node in nodes if node and node.parent}) > 1:
            return False
    return True


def _node_of(root: Node, number: int, line: str, item: bool) -> Node | None:
    """The statement, or the element of a list, that a line is; None when it is neither, or in another one."""
    begin = (number - 1, len(line[: len(line) - len(line.lstrip())].encode()))
    node = root.descendant_for_point_range(begin, begin)
    while node is not None and node.start_point == begin and node.parent is not None:
        fits = node.parent.type in _CONTAINERS if item else node.parent == root and node.type in _STATEMENTS
        if fits and node.end_point[0] == number - 1:
            return node
        node = node.parent
    return None


def _names(root: Node) -> Iterator[str]:
    """The names that a file's imports and its declarations at the top give, and those that it passes on."""
    for statement in root.children:
        for node in walk(statement) if statement.type in ("import_statement", "export_statement") else (statement,):
            match node.type:
                case "import_specifier":
                    yield text_of(node.child_by_field_name("alias") or node.child_by_field_name("name"))
                case "import_clause" | "namespace_import":
                    yield from (text_of(child) for child in node.children if child.type == "identifier")
                case "export_specifier":
                    yield f"export {text_of(node.child_by_field_name('alias') or node.child_by_field_name('name'))}"
        declared = statement.child_by_field_name("declaration") or statement
        for node in (declared, *declared.named_children):
            if node.type in _DECLARATIONS:
                yield from _declared(node.child_by_field_name("name"))


def _declared(name: Node | None) -> Iterator[str]:
    for node in walk(name) if name is not None else ():
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield text_of(node)


def _plain(entry: ListEntry) -> str:
    return entry.lines[-1].strip()


def _folded(entry: ListEntry) -> str:
    return _plain(entry).casefold()


def _by_source(entry: ListEntry) -> str:
    found = _SOURCE.findall(entry.lines[-1])
    return found[-1].casefold() if found else ""


_ORDERS = (_plain, _folded)
KIND = Kind(
    readings=(
        ListReading(name="imports", read=_imports, orders=(_by_source, *_ORDERS), seen=1),
        ListReading(name="grown imports", read=_grown_imports, orders=(_by_source, *_ORDERS), seen=1),
        ListReading(name="items", read=_items, orders=_ORDERS, commas=True),
    ),
    holds=_holds,
)
