"""Messages on a stream of bytes: a length, then that many bytes."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator

LONGEST_FRAME = 4_000_000
LONGEST_VALUE = 100_000  # of a last expression, which nobody asked for
LONGEST_QUESTION = 4 * LONGEST_FRAME
TOKEN_BYTES = 16  # a question begins with a token of its own, and all that is said about it with the same
# What is said, as the byte after the token: to a session, and by it.
QUESTION, RESULT = b"q", b"r"
ANSWER, CALL = b"a", b"c"
_CHUNK = 262_144


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


class Frames:
    """The messages that come in on a descriptor that does not block. `too_long` is for good: nothing more is read."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor = descriptor
        self._longest = longest
        self._heard = bytearray()
        self.too_long = False
        self.ended = False

    def read(self) -> Iterator[bytes]:
        """Take what is there now; gives the messages that it completes."""
        try:
            piece = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError:
            piece = b""
        self.ended = not piece
        self._heard += piece
        while len(self._heard) >= 4 and not self.too_long:
            size = int.from_bytes(self._heard[:4], "big")
            self.too_long = size > self._longest
            if len(self._heard) < 4 + size:
                return
            body = bytes(self._heard[4 : 4 + size])
            del self._heard[: 4 + size]
            yield body

    def forget(self) -> int:
        """Drop what is waiting or half read, within reason; how many bytes that were."""
        dropped = len(self._heard)
        self._heard.clear()
        try:
            while dropped <= self._longest and (piece := os.read(self._descriptor, _CHUNK)):
                dropped += len(piece)
        except (BlockingIOError, ConnectionResetError):
            pass
        return dropped


class Outgoing:
    """Bytes on their way to a descriptor that does not block."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = bytearray()

    def put(self, body: bytes) -> None:
        self._waiting += body

    def write(self) -> bool:
        """Write what fits; False when nothing is left, or nobody reads."""
        try:
            while self._waiting:
                del self._waiting[: os.write(self._descriptor, self._waiting[:_CHUNK])]
        except BlockingIOError:
            return True
        except (BrokenPipeError, ConnectionResetError):
            self._waiting.clear()
        return False


def tell(listener: socket.socket, **facts: object) -> None:
    """Write facts as a line of JSON; nothing happens when nobody listens any more."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        listener.sendall(json.dumps(facts).encode() + b"\n")


class FactWriter:
    """Says facts to the host as lines of JSON, and waits for it to listen only at the very end.

    Whoever waited would watch nothing meanwhile, and between two questions nobody listens.
    """

    def __init__(self, host: socket.socket) -> None:
        host.setblocking(False)
        self._host = host
        self._outgoing = Outgoing(host.fileno())
        self.descriptor = host.fileno()
        self.has_more_to_say = False

    def tell(self, **facts: object) -> None:
        self._outgoing.put(json.dumps(facts).encode() + b"\n")
        self.write()

    def write(self) -> None:
        self.has_more_to_say = self._outgoing.write()

    def finish(self, **facts: object) -> None:
        """Say the last facts, and return when the host has all."""
        self._host.setblocking(True)
        self.tell(**facts)
