"""The cells of a table where they stand in its lines, and how one is written anew."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.source import RoadmapSource

_BEFORE = re.compile(r"[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+)*")
_BAR = re.compile(r"(?<!\\)(?:\\\\)*\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell: its text from `start` to `end` in the line, and the column `close` at which it is over."""

    start: int
    end: int
    open: int
    close: int


def cells_of(line: str) -> list[Cell]:
    """The cells of a row, between bars that are not escaped."""
    before = _BEFORE.match(line)
    start = before.end() if before else 0
    start += line[start : start + 1] == "|"
    bars = [found.end() - 1 for found in _BAR.finditer(line, start)]
    end = len(line.rstrip())
    edges = [start, *(bar + 1 for bar in bars)]
    closes = [*bars, end]
    spans = [(opens, closes_at) for opens, closes_at in zip(edges, closes, strict=True) if opens <= closes_at]
    if len(spans) > 1 and not line[spans[-1][0] : spans[-1][1]].strip():
        spans.pop()
    return [_cell(line, opens, closes_at) for opens, closes_at in spans]


class Grid:
    """The rows of a table by their lines, and how wide each cell is."""

    def __init__(self, source: RoadmapSource, rows: Sequence[int]) -> None:
        self._source = source
        self._cells = {row: cells_of(source.lines[row]) for row in rows}
        self._widths: dict[int, Counter[int]] = {}

    def text(self, row: int, column: int) -> str | None:
        """What is written in a cell; None where the row is too short to have it."""
        cells = self._cells[row]
        return self._source.lines[row][cells[column].start : cells[column].end] if column < len(cells) else None

    def box(self, row: int, column: int, *, ticked: bool, done: str, undone: str) -> Box:
        """The box of a cell: what it says, with the blanks after it where the bars stand below each other."""
        line, cell = self._source.lines[row], self._cells[row][column]
        start, written = cell.start, line[cell.start : cell.end]
        wide, now = self._wide(row, column), _width(line[cell.open : cell.close])
        grown = now > wide > 0 and cell.close - cell.end == 1
        if wide > 0 and (now == wide or grown):
            written = line[cell.start : cell.close]
            room = wide - _width(line[cell.open : cell.start])
            done, undone = _padded(done, room), _padded(undone, room)
        elif not written:
            start, written = cell.open, line[cell.open : cell.close]
            done, undone = f" {done} ", written
        return Box(
            offset=self._source.offset(row, start),
            written=written.encode(),
            ticked=ticked,
            done=done.encode(),
            undone=undone.encode(),
        )

    def _wide(self, row: int, column: int) -> int:
        """The width that all other cells of a column have; 0 where they differ."""
        if column not in self._widths:
            self._widths[column] = Counter(self._width_of(other, column) for other in self._cells)
        others = self._widths[column] - Counter([self._width_of(row, column)])
        return next(iter(others)) if len(others) == 1 else 0

    def _width_of(self, row: int, column: int) -> int:
        cells = self._cells[row]
        return _width(self._source.lines[row][cells[column].open : cells[column].close]) if column < len(cells) else 0


def _cell(line: str, opens: int, closes: int) -> Cell:
    inside = line[opens:closes]
    start = opens + len(inside) - len(inside.lstrip())
    text = inside.strip()
    if not text:
        start = min(opens + 1, closes)
    return Cell(start=start, end=start + len(text), open=opens, close=closes)


def _padded(text: str, room: int) -> str:
    return text + " " * max(1, room - _width(text))


def _width(text: str) -> int:
    """The columns that a text takes in a terminal, or nearly so."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    nothing = sum(unicodedata.combining(sign) > 0 or sign in "\ufe0f\u200d" for sign in text)
    return len(text) + wide - nothing
