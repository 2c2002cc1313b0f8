"""What changed in files, as plain values: hunks of rows that are coloured on both sides. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from milepost.core.same_lines import compare
from milepost.web.diff.hunks import Group, fitting, groups_of
from milepost.web.highlight.colours import Paint, Row, coloured, lines_of

CONTEXT: Final = 3
ALL_LINES: Final = sys.maxsize
LONG: Final = 400  # changed lines
MOST_ROWS: Final = 30_000  # of one answer
HEADING_LINES: Final = 400
LONGEST_HEADING: Final = 80

Kind = Literal["added", "removed", "changed", "renamed"]
Sign = Literal[" ", "+", "-"]
DiffRow = tuple[Sign, int | None, int | None, Row]

_HEADING = re.compile(r"[^\W\d]|\$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A file before and after: its text, None where it is not there, has none, or is `cut` for its size.

    `added` and `removed` count lines where there is no text to count them in.
    """

    path: str
    was: str = ""
    kind: Kind = "changed"
    before: str | None = None
    after: str | None = None
    added: int = 0
    removed: int = 0
    binary: bool = False
    generated: bool = False
    cut: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Rows that follow each other; its header is git's."""

    header: str
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFileDiff:
    """What changed in a file. `long` and `generated` ones are nothing that people read first; `cut` ones lack rows."""

    path: str
    was: str
    kind: Kind
    added: int
    removed: int
    binary: bool
    generated: bool
    long: bool
    cut: bool
    note: str
    hunks: tuple[Hunk, ...]


def file_diffs(files: Iterable[Sides], context: int = CONTEXT, paint: Paint = coloured) -> tuple[ShownFileDiff, ...]:
    """What changed in each file, with so many lines of context; rows are cut where there are too many in all."""
    found = []
    room = MOST_ROWS
    for sides in files:
        diff = file_diff(sides, context, room, paint)
        room -= sum(len(hunk.rows) for hunk in diff.hunks)
        found.append(diff)
    return tuple(found)


def file_diff(sides: Sides, context: int = CONTEXT, room: int = MOST_ROWS, paint: Paint = coloured) -> ShownFileDiff:
    """What changed in one file, in as many rows as there is room for."""
    before, after = _ends_alike(sides.before or "", sides.after or "")
    stretches = compare(_whole_lines(before), _whole_lines(after))
    changed = [stretch for stretch in stretches if not stretch.same]
    added = sides.added + sum(stretch.new_end - stretch.new for stretch in changed)
    removed = sides.removed + sum(stretch.old_end - stretch.old for stretch in changed)
    groups, left_out = fitting(groups_of(stretches, context), room)
    old, new = (paint(sides.was or sides.path, before), paint(sides.path, after)) if groups else ((), ())
    return ShownFileDiff(
        path=sides.path,
        was=sides.was,
        kind=sides.kind,
        added=added,
        removed=removed,
        binary=sides.binary,
        generated=sides.generated,
        long=added + removed > LONG,
        cut=sides.cut or left_out,
        note="; ".join(filter(None, (sides.note, _last_line(before, after)))),
        hunks=_hunks(groups, lines_of(before), old, new),
    )


def _ends_alike(before: str, after: str) -> tuple[str, str]:
    """Both texts with plain ends of lines, where all lines of both end as those of Windows do."""
    ends = before.count("\n") + after.count("\n")
    if ends and ends == before.count("\r\n") + after.count("\r\n"):
        return before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    return before, after


def _whole_lines(text: str) -> list[str]:
    """Lines with their ends: one without is another one than the same with."""
    lines = [f"{line}\n" for line in lines_of(text)]
    if lines and not text.endswith("\n"):
        lines[-1] = lines[-1][:-1]
    return lines


def _last_line(before: str, after: str) -> str:
    """What is said about the end of the last line, where that changed."""
    had, has = (not text or text.endswith("\n") for text in (before, after))
    if had == has:
        return ""
    return "the last line ends with a newline now" if has else "no newline at the end of the last line"


def _hunks(groups: Sequence[Group], lines: Sequence[str], old: Sequence[Row], new: Sequence[Row]) -> tuple[Hunk, ...]:
    return tuple(Hunk(header=_header(group, lines), rows=tuple(_rows(group, old, new))) for group in groups)


def _rows(group: Group, old: Sequence[Row], new: Sequence[Row]) -> Iterator[DiffRow]:
    for stretch in group:
        if stretch.same:
            for at in range(stretch.new_end - stretch.new):
                yield " ", stretch.old + at + 1, stretch.new + at + 1, new[stretch.new + at]
        else:
            yield from (("-", at + 1, None, old[at]) for at in range(stretch.old, stretch.old_end))
            yield from (("+", None, at + 1, new[at]) for at in range(stretch.new, stretch.new_end))


def _header(group: Group, old_lines: Sequence[str]) -> str:
    first, last = group[0], group[-1]
    old, new = last.old_end - first.old, last.new_end - first.new
    where = f"@@ -{first.old + bool(old)},{old} +{first.new + bool(new)},{new} @@"
    return f"{where} {_heading(old_lines, first.old)}".rstrip()


def _heading(lines: Sequence[str], at: int) -> str:
    """The line above that begins what a hunk is in: a function, a class, a section."""
    above = range(at - 1, max(-1, at - 1 - HEADING_LINES), -1)
    found = next((lines[number] for number in above if _HEADING.match(lines[number])), "")
    return found[:LONGEST_HEADING].rstrip()
