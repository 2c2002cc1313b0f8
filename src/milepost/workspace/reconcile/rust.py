"""Rust: `use`, `mod` and `extern crate` at the top of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from milepost.workspace.reconcile.file_kind import Kind, Proposed, newly, one_a_line, repeated
from milepost.workspace.reconcile.list_entries import Inline, Lines, ListEntry, ListReading

LONGEST_LINE = 1_000
_PUBLIC = r"(?:pub(?:\([^()]*\))?\s+)?"
_LINE = re.compile(rf"\s*{_PUBLIC}(?:use\s+[\w:*\s]+(?:\{{[\w\s,*]*\}})?|mod\s+\w+|extern\s+crate\s+[\w\s]+)\s*;\s*")
_GROWING = re.compile(rf"(\s*{_PUBLIC}use\s+[\w:]+::\{{\s*)([\w\s,]+?)(,?\s*\}}\s*;\s*)")
_OPENS = re.compile(rf"\s*{_PUBLIC}use\s[^;]*")
_BEFORE = re.compile(r"\s*|\s*//.*|#!?\[.*\]\s*")
_NAMES = re.compile(r"(?:(\w+)\s+as\s+)?(\w+)\s*(?=[,};])")


def _uses(lines: Lines) -> tuple[ListEntry, ...] | None:
    return one_a_line(lines, lambda line: ListEntry(key=line.strip(), lines=(line,)) if _LINE.fullmatch(line) else None)


def _grown_uses(lines: Lines) -> tuple[ListEntry, ...] | None:
    """`use` of several names of one module, to which both sides may have added some."""

    def entry(line: str) -> ListEntry | None:
        found = _GROWING.fullmatch(line)
        if found is None:
            return ListEntry(key=line.strip(), lines=(line,)) if _LINE.fullmatch(line) else None
        head, items, tail = found.groups()
        inline = Inline(head=head, items=tuple(item.strip() for item in items.split(",")), tail=tail)
        return ListEntry(key=head.strip(), lines=(line,), inline=inline)

    return one_a_line(lines, entry)


def _holds(proposed: Proposed) -> bool:
    """Whether every line is at the top of its file, below no attribute, and no name is brought in twice."""
    found = dict(uses_at_the_top(proposed.result))
    lines = proposed.result.split("\n")
    for spot in proposed.spots:
        attributed = spot.first > 1 and lines[spot.first - 2].lstrip().startswith("#[")
        if attributed or not all(number in found for number in spot.filled):
            return False
    return not newly(_twice, proposed)


def uses_at_the_top(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are whole statements of these kinds, with their numbers, up to the first other code."""
    comment = inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            return
        if comment or line.lstrip().startswith("/*"):
            _, ended, rest = line.partition("*/")
            comment = not ended
            if rest.strip() or "/*" in line.lstrip()[2:]:
                return
        elif inside:
            inside = ";" not in line
        elif _LINE.fullmatch(line):
            yield number, line
        elif _OPENS.fullmatch(line):
            inside = True
        elif not _BEFORE.fullmatch(line):
            return


def _twice(text: str) -> frozenset[str]:
    names = (found[2] for _, line in uses_at_the_top(text) for found in _NAMES.finditer(line))
    return repeated(name for name in names if name not in ("_", "self"))


def _plain(entry: ListEntry) -> str:
    return entry.lines[-1].strip()


def _folded(entry: ListEntry) -> str:
    return _plain(entry).casefold()


_ORDERS = (_plain, _folded)
KIND = Kind(
    readings=(
        ListReading(name="uses", read=_uses, orders=_ORDERS, seen=1),
        ListReading(name="grown uses", read=_grown_uses, orders=_ORDERS, seen=1),
    ),
    holds=_holds,
)
