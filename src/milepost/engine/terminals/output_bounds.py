"""What a command printed and nobody was told yet, within bounds: of too many lines the first and the last are told."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from milepost.core.commands import Line

LONGEST_LINE = 4_000  # signs
MOST_LINES, MOST_BYTES = 20_000, 4_000_000  # of one command, as they come; bytes are those of JSON
LAST_LINES, LAST_BYTES = 500, 250_000  # of one that prints more, when it ends
BEFORE_LAST = 200  # lines that are looked at for secrets that go on into the last ones
BATCH_BYTES = 32_000

_in_json = json.encoder.encode_basestring_ascii


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines in their order, and the places of those that came on stderr."""

    lines: tuple[str, ...]
    errors: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Rest:
    """The end of what was too much: `lines` follow on `left_out` others; the first `before` of them are not told."""

    lines: list[Line]
    left_out: int
    before: int


class Printed:
    """The lines of one command that wait to be told. For a thread at a time."""

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._lines_left = most_lines
        self._bytes_left = most_bytes
        self._waiting: list[Line] = []
        self._last: deque[Line] = deque(maxlen=BEFORE_LAST + LAST_LINES if most_bytes > 0 else 0)
        self._beyond = 0

    def add(self, line: Line) -> bool:
        """Have a line wait, or keep it while it is one of the last; True when it is the first that waits."""
        if self._lines_left <= 0 or self._bytes_left <= 0:
            self._beyond += 1
            self._last.append(line)
            return False
        self._lines_left -= 1
        self._bytes_left -= size_of(line.text)
        self._waiting.append(line)
        return len(self._waiting) == 1

    def take(self) -> list[Line]:
        """All that waits, which waits no longer."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def rest(self) -> Rest:
        """The last lines of those that were too many, which are kept no longer."""
        lines, beyond = [*self._last], self._beyond
        self._last.clear()
        self._beyond = 0
        told = size = 0
        for line in reversed(lines[-LAST_LINES:]):
            size += size_of(line.text)
            if size > LAST_BYTES:
                break
            told += 1
        return Rest(lines, beyond - len(lines), len(lines) - told)


def size_of(text: str) -> int:
    """How many bytes a line takes in a row."""
    return len(_in_json(text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE])) + 2  # with what is before the next


def batches(texts: Sequence[str], errors: Sequence[int] = ()) -> Iterator[Batch]:
    """Lines in parts that are not too large for a row; `errors` are the places of those that came on stderr."""
    ends = [*accumulate(map(size_of, texts))]
    start = size = 0
    while start < len(texts):
        stop = max(start + 1, bisect_right(ends, size + BATCH_BYTES))
        among = errors[bisect_left(errors, start) : bisect_left(errors, stop)]
        yield Batch(tuple(texts[start:stop]), tuple(place - start for place in among), ends[stop - 1] - size)
        start, size = stop, ends[stop - 1]


def fit(text: str) -> str:
    """A line as every database and JSON can hold it, cut where it is too long: `…` says so."""
    if len(text) <= LONGEST_LINE and "\0" not in text and text.isascii():
        return text
    text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
