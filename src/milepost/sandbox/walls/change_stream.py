"""How changes are told: a file of entries, each four bytes of length and a JSON object, for a file the bytes it says.

Whose changes they are may make more of them all the while: there is an end to how many bytes are told, and how long.
"""

from __future__ import annotations

import errno
import json
import os
import time
from typing import Any

_CHUNK = 1 << 20
_MEBIBYTE = 1 << 20


class Telling:
    """Changes told into a file from its beginning; OSError when they are too many or take too long."""

    def __init__(self, file: int, *, most_bytes: int, within_s: float) -> None:
        self._file = file
        self._most_bytes = most_bytes
        self._left = most_bytes
        self._within_s = within_s
        self._deadline = time.monotonic() + within_s
        self._empty()

    def check(self) -> None:
        """Raise when it has taken too long."""
        if time.monotonic() > self._deadline:
            raise OSError(errno.ETIMEDOUT, f"reporting them took longer than {self._within_s:g} s")

    def tell(self, entry: dict[str, Any]) -> None:
        text = _framed(entry)
        self._spend(len(text))
        self._write(text)

    def copy(self, source: int, start: int, length: int) -> None:
        """Tell a piece of a file, with zeros for what it lost meanwhile."""
        self._spend(length)
        end = start + length
        while start < end:
            self.check()
            sent = os.sendfile(self._file, source, start, min(end - start, _CHUNK))
            if not sent:
                sent = os.write(self._file, bytes(min(end - start, _CHUNK)))
            start += sent

    def end(self) -> None:
        """Say that all was told."""
        self._write(_framed({"now": "end"}))

    def fail(self, why: str) -> None:
        """Say instead of everything why it could not be told."""
        self._empty()
        self._write(_framed({"now": "end", "failure": why}))

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise OSError(errno.EFBIG, f"they are more than {self._most_bytes // _MEBIBYTE} MB")

    def _write(self, text: bytes) -> None:
        rest = memoryview(text)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def _empty(self) -> None:
        os.lseek(self._file, 0, os.SEEK_SET)
        os.ftruncate(self._file, 0)


def _framed(entry: dict[str, Any]) -> bytes:
    text = json.dumps(entry).encode()
    return len(text).to_bytes(4, "big") + text
