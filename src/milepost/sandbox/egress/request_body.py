"""Where the body of a request ends: nothing that follows it is passed on."""

from __future__ import annotations

import re
from typing import Protocol

from milepost.sandbox.egress.request_head import Head, Malformed

_LONGEST_SIZE_LINE = 256
_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")


class Body(Protocol):
    """What may be passed on of the bytes that come."""

    def take(self, piece: bytes) -> bytes: ...
    @property
    def complete(self) -> bool: ...


def body_of(head: Head) -> Body:
    """The body that a head announces; Malformed when it does so in more than one way."""
    codings, lengths = head.all("transfer-encoding"), set(head.all("content-length"))
    if codings:
        if lengths or len(codings) > 1 or codings[0].lower() != "chunked":
            raise Malformed("the length of the body is not clear")
        return Chunked()
    if not lengths:
        return Counted(0)
    length = lengths.pop()
    if lengths or not re.fullmatch(r"[0-9]{1,18}", length):
        raise Malformed("the length of the body is not clear")
    return Counted(int(length))


class Endless:
    """All that comes: the two ends talk as they like."""

    complete = False

    def take(self, piece: bytes) -> bytes:
        return piece


class Counted:
    """A body of so many bytes."""

    def __init__(self, length: int) -> None:
        self._left = length

    @property
    def complete(self) -> bool:
        return self._left == 0

    def take(self, piece: bytes) -> bytes:
        part = piece[: self._left]
        self._left -= len(part)
        return part


class Chunked:
    """A body in chunks, each behind a line with its size; passed on as it comes. Trailers are not taken."""

    def __init__(self) -> None:
        self.complete = False
        self._left = 0
        self._line = b""
        self._after_chunk = False
        self._last = False

    def take(self, piece: bytes) -> bytes:
        taken = 0
        while taken < len(piece) and not self.complete:
            if self._left:
                step = min(self._left, len(piece) - taken)
                self._left -= step
                self._after_chunk = self._left == 0
            else:
                step = self._read_line(piece[taken : taken + _LONGEST_SIZE_LINE])
            taken += step
        return piece[:taken]

    def _read_line(self, piece: bytes) -> int:
        """Take what belongs to a line between chunks, and understand it when it is whole."""
        end = piece.find(b"\n") + 1
        part = piece[:end] if end else piece
        self._line += part
        if len(self._line) > _LONGEST_SIZE_LINE:
            raise Malformed("the size of a chunk cannot be read")
        if end:
            line, self._line = self._line, b""
            self._understand(line)
        return len(part)

    def _understand(self, line: bytes) -> None:
        if self._after_chunk or self._last:
            if line != b"\r\n":
                raise Malformed("a chunk is longer than it says")
            self.complete, self._after_chunk = self._last, False
            return
        size = _SIZE_LINE.fullmatch(line)
        if size is None:
            raise Malformed("the size of a chunk cannot be read")
        self._left = int(size[1], 16)
        self._last = self._left == 0
