"""Having texts coloured elsewhere, and not waiting for it for long: what takes too long is shown without colours."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from typing import Final

from milepost.web.highlight.colours import MOST_SIGNS, Paint, Row, lines_of, plain

PROGRAM: Final = (sys.executable, "-P", "-m", "milepost.web.highlight.process")
PATIENCE_S: Final = 5.0  # for all texts of an answer
BEGINNING_S: Final = 60.0  # a machine with much to do takes long to begin a process


class Painter:
    """A process that colours one text after the other; another takes its place where it ended. Any thread may ask.

    It ends when nobody has its painter any more, or by `close`.
    """

    def __init__(self) -> None:
        self._at_work: list[subprocess.Popen[bytes]] = []  # one, or none
        self._lock = threading.Lock()
        self.close = weakref.finalize(self, _dismiss, self._at_work)

    def sitting(self, patience_s: float = PATIENCE_S) -> Paint:
        """What colours the texts of one answer, until they took too long."""
        left = patience_s

        def paint(path: str, text: str) -> tuple[Row, ...]:
            nonlocal left
            if left <= 0 or not text or len(text) > MOST_SIGNS:
                return plain(lines_of(text))
            with self._lock:
                process = self._ready()
                began = time.monotonic()
                rows = self._painted(process, [path, text], began + left)
                left -= time.monotonic() - began
            return plain(lines_of(text)) if rows is None else rows

        return paint

    def _ready(self) -> subprocess.Popen[bytes]:
        """The process that is at work, begun where there is none; it says when it can be asked."""
        if not self._at_work:
            process = _begun()
            self._at_work.append(process)
            assert process.stdout is not None
            _line(process.stdout.fileno(), time.monotonic() + BEGINNING_S)
        return self._at_work[0]

    def _painted(self, process: subprocess.Popen[bytes], asked: list[str], until: float) -> tuple[Row, ...] | None:
        """The rows of a text, None where they did not come."""
        assert process.stdin is not None and process.stdout is not None
        rows = None
        with suppress(OSError, ValueError, TypeError, RecursionError):
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
            rows = _rows(_line(process.stdout.fileno(), until), lines_of(asked[1]))
        if rows is None:
            _dismiss(self._at_work)
        return rows


def _rows(answer: bytes | None, lines: list[str]) -> tuple[Row, ...] | None:
    """An answer as rows; None where it is none to what was asked. What cannot be read raises."""
    if answer is None:
        return None
    rows = tuple(tuple((str(kind), str(piece)) for kind, piece in row) for row in json.loads(answer))
    return rows if ["".join(piece for _, piece in row) for row in rows] == lines else None


def _begun() -> subprocess.Popen[bytes]:
    """A process that begins outside of the repository, so that it imports nothing from there."""
    return subprocess.Popen(PROGRAM, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _dismiss(at_work: list[subprocess.Popen[bytes]]) -> None:
    """End the process, whatever it is at."""
    while at_work:
        process = at_work.pop()
        process.kill()
        with suppress(OSError):  # what it was not told any more
            process.communicate()


def _line(said: int, until: float) -> bytes | None:
    """What is said in a line; None where it is not said in time, or never will be."""
    found = bytearray()
    while not found.endswith(b"\n"):
        ready = select.select([said], [], [], max(0.0, until - time.monotonic()))[0]
        more = os.read(said, 1 << 16) if ready else b""
        if not more:
            return None
        found += more
    return bytes(found)
