"""Lists in Markdown: changelogs, indexes, tables of words."""

from __future__ import annotations

import re
from dataclasses import replace

from milepost.workspace.reconcile.file_kind import Kind, Proposed
from milepost.workspace.reconcile.list_entries import Lines, ListEntry, ListReading

_ITEM = re.compile(r"\s*[-*+]\s+\S")
_ROW = re.compile(r"\s*\|(?=.*[^\s|:-]).*\|\s*")  # not the line below a table's head
_LINK = re.compile(r"\[[^\]]+\]:\s+\S+.*")
_HEADING = re.compile(r"#{1,6}\s+\S.*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_COMMENT = re.compile(r"<!--|-->")


def read(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Items with the lines that are indented below them, rows, links and headings; nothing else is a list."""
    found: list[ListEntry] = []
    lead: list[str] = []
    for line in lines:
        if not line.strip():
            if not found:
                lead.append(line)
            else:
                found[-1] = replace(found[-1], lines=(*found[-1].lines, line))
        elif found and _continues(found[-1], line):
            found[-1] = replace(found[-1], key=f"{found[-1].key}\n{line.rstrip()}", lines=(*found[-1].lines, line))
        elif _ITEM.match(line) or _ROW.fullmatch(line) or _LINK.fullmatch(line) or _HEADING.fullmatch(line):
            opens = _HEADING.fullmatch(line) is not None
            found.append(ListEntry(key=line.rstrip(), lines=(*lead, line), opens=opens))
            lead = []
        else:
            return None
    return tuple(found)


def holds(proposed: Proposed) -> bool:
    """Whether every stretch is text: in a code block or a comment a list may be anything."""
    lines = proposed.result.split("\n")
    for spot in proposed.spots:
        if any(_FENCE.match(line) or _COMMENT.search(line) for line in spot.lines):
            return False
        before = lines[: spot.first - 1]
        if sum(_FENCE.match(line) is not None for line in before) % 2:
            return False
        text = "\n".join(before)
        if text.count("<!--") != text.count("-->"):
            return False
    return True


def _continues(entry: ListEntry, line: str) -> bool:
    """Whether a line belongs to an item: it is indented deeper."""
    first = next(text for text in entry.lines if text.strip())
    return _ITEM.match(first) is not None and _indent(line) > _indent(first)


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


KIND = Kind(readings=(ListReading(name="list", read=read),), holds=holds)
