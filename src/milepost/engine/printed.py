"""What a command printed and nobody was told yet, within bounds: long lines are cut, and too many only counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_LINE = 4_000  # signs
MOST_LINES, MOST_BYTES = 20_000, 4_000_000  # of one command
BATCH_BYTES = 32_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines in their order, and the places of those that came on stderr."""

    lines: tuple[str, ...]
    errors: tuple[int, ...]


class Printed:
    """The lines of one command on their way; `unshown` counts those that are not kept. For one thread at a time."""

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._lines_left = most_lines
        self._bytes_left = most_bytes
        self._waiting: list[tuple[str, bool, int]] = []
        self.unshown = 0

    @property
    def is_full(self) -> bool:
        """Whether no further line is kept."""
        return self._lines_left <= 0 or self._bytes_left <= 0

    @property
    def is_waiting(self) -> bool:
        """Whether there are lines that nobody was told yet."""
        return bool(self._waiting)

    def add(self, text: str, *, error: bool = False) -> None:
        """Keep a line, or count it."""
        if self.is_full:
            self.unshown += 1
            return
        line = fit(text)
        size = len(json.dumps(line)) + 1
        self._lines_left -= 1
        self._bytes_left -= size
        self._waiting.append((line, error, size))

    def take(self) -> tuple[Batch, ...]:
        """All that waits, in batches that are not too large for a row."""
        waiting, self._waiting = self._waiting, []
        return tuple(_batch(rows) for rows in _parted(waiting))

    def lose(self, batch: Batch) -> None:
        """Count lines that could not be kept after all."""
        self.unshown += len(batch.lines)


def fit(text: str) -> str:
    """A line as every database and JSON can hold it, cut where it is too long: `…` says so."""
    text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def _parted(rows: list[tuple[str, bool, int]]) -> Iterator[list[tuple[str, bool, int]]]:
    part: list[tuple[str, bool, int]] = []
    total = 0
    for row in rows:
        if part and total + row[2] > BATCH_BYTES:
            yield part
            part, total = [], 0
        part.append(row)
        total += row[2]
    if part:
        yield part


def _batch(rows: list[tuple[str, bool, int]]) -> Batch:
    errors = (place for place, (_, error, _) in enumerate(rows) if error)
    return Batch(tuple(line for line, _, _ in rows), tuple(errors))
