"""What a command printed and nobody was told yet, within bounds: long lines are cut, and too many only counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

LONGEST_LINE = 4_000  # signs
MOST_LINES, MOST_BYTES = 20_000, 4_000_000  # of one command
BATCH_BYTES = 32_000


class Said(NamedTuple):
    """One line, and whether it came on stderr."""

    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines in their order, and the places of those that came on stderr."""

    lines: tuple[str, ...]
    errors: tuple[int, ...]


class Printed:
    """The lines of one command that wait to be told; `unshown` counts those that never are. For a thread at a time."""

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._lines_left = most_lines
        self._bytes_left = most_bytes
        self._waiting: list[Said] = []
        self.unshown = 0

    def add(self, said: Said) -> bool:
        """Have a line wait, or only count it; True when it is the first that waits."""
        if self._lines_left <= 0 or self._bytes_left <= 0:
            self.unshown += 1
            return False
        self._lines_left -= 1
        self._bytes_left -= min(len(said.text.encode("utf-8", "backslashreplace")), 4 * LONGEST_LINE)
        self._waiting.append(said)
        return len(self._waiting) == 1

    def take(self) -> list[Said]:
        """All that waits, which waits no longer."""
        waiting, self._waiting = self._waiting, []
        return waiting


def batches(lines: Iterable[Said]) -> Iterator[Batch]:
    """Lines in parts that are not too large for a row."""
    part: list[Said] = []
    total = 0
    for said in lines:
        size = len(json.dumps(said.text)) + 1
        if part and total + size > BATCH_BYTES:
            yield _batch(part)
            part, total = [], 0
        part.append(said)
        total += size
    if part:
        yield _batch(part)


def fit(text: str) -> str:
    """A line as every database and JSON can hold it, cut where it is too long: `…` says so."""
    text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def _batch(part: list[Said]) -> Batch:
    errors = (place for place, said in enumerate(part) if said.error)
    return Batch(tuple(said.text for said in part), tuple(errors))
