"""Output as it comes: kept within a bound, and cut into lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

LONGEST_PIECE = 16_384
# A guest that writes more than this to one stream is ended: it is stuck in a loop, or filling our memory.
FLOOD_BYTES = 64_000_000


class Capture:
    """Keeps the head and the tail of a stream of bytes, and counts all of it."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, piece: bytes) -> None:
        self.total += len(piece)
        room = self._head_limit - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        if len(self._tail) > 2 * self._tail_limit + LONGEST_PIECE:
            self._trim()

    @property
    def truncated(self) -> bool:
        return self.total > self._head_limit + self._tail_limit

    def text(self) -> str:
        """What was kept, with a line in the middle that says how much was not."""
        self._trim()
        if not self.truncated:
            return (self._head + self._tail).decode(errors="replace")
        left_out = self.total - len(self._head) - len(self._tail)
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        return f"{head}\n[{left_out} bytes left out]\n{tail}"

    def _trim(self) -> None:
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            del self._tail[:excess]


class LineCutter:
    """Cuts a stream of bytes into lines of text; a line that is too long to wait for comes in pieces."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._is_cut = False

    def feed(self, piece: bytes, *, last: bool = False) -> Iterator[str]:
        """The lines that `piece` completes; with `last`, also what is left without an end of line."""
        *lines, self._rest = (self._rest + self._decode.decode(piece, final=last)).split("\n")
        for line in (line.removesuffix("\r") for line in lines):
            if line or not self._is_cut:  # the end of a line whose pieces are all out is no line of its own
                yield from _pieces(line)
            self._is_cut = False
        if self._rest and (last or len(self._rest) >= LONGEST_PIECE):
            rest, self._rest, self._is_cut = self._rest, "", True
            yield from _pieces(rest)


def _pieces(line: str) -> Iterator[str]:
    yield line[:LONGEST_PIECE]
    for start in range(LONGEST_PIECE, len(line), LONGEST_PIECE):
        yield line[start : start + LONGEST_PIECE]
