"""Questions of the host to a session, and the session's answers: passed on one at a time, as its own words."""

from __future__ import annotations

import json
import math
import os
import socket
from typing import Any

from . import overlay
from .frames import LONGEST_FRAME, TOKEN_BYTES, Frames, Outgoing, framed, tell
from .sweep import cpu_s, peak_memory

_LONGEST_QUESTION = 4 * LONGEST_FRAME
_LOOK_AT_CPU_MS = 20.0


class Talk:
    """Holds the only way from a session to the host. An answer that nobody asked for goes nowhere, and is noted."""

    def __init__(
        self, host: socket.socket, guest: int, questions: int, channel: socket.socket, changes: int | None
    ) -> None:
        self._host = host
        self._guest = guest
        self._channel = channel
        self._changes = changes
        self.channel = channel.fileno()
        os.set_blocking(questions, False)
        channel.setblocking(False)
        self._questions = Frames(questions, _LONGEST_QUESTION)
        self._answers = Frames(self.channel, LONGEST_FRAME)
        self._outgoing = Outgoing(self.channel)
        self.has_more_to_say = False
        self._open: str | None = None
        self._forged = False
        self._cpu_s: float | None = None
        self._cpu_until = 0.0

    @property
    def interval_ms(self) -> float | None:
        """How often `excess` is to be asked; None while nothing is measured."""
        return None if self._cpu_s is None or self._open is None else _LOOK_AT_CPU_MS

    def excess(self) -> tuple[str, str] | None:
        """Whether the open question has used up its processor time."""
        if self.interval_ms is None or cpu_s() <= self._cpu_until:
            return None
        return "cpu", f"used more than {self._cpu_s:g} s of processor time"

    def hear_the_host(self) -> bool:
        """Take what the host asks; False when it has gone."""
        for frame in self._questions.read():
            head, _, body = frame.partition(b"\n")
            wanted = json.loads(head)
            if "nonce" in wanted:
                self._ask(wanted, body)
            elif self._changes is not None:
                overlay.collect(self._changes)
                tell(self._host, changes=wanted["changes"])
        return not self._questions.ended

    def hear_the_guest(self) -> tuple[str, str] | None:
        """Let the guest have what is left to say to it, and take its answer; why it can answer no more, if so."""
        self.has_more_to_say = self._outgoing.write()
        for frame in self._answers.read():
            token, answer = frame[:TOKEN_BYTES], frame[TOKEN_BYTES:]
            if self._open is None or token != self._open.encode():
                self._forged = True
                continue
            tell(
                self._host,
                nonce=self._open,
                answer=answer.decode(errors="replace"),
                forged=self._forged,
                memory_bytes=peak_memory(self._guest),
            )
            self._open, self._forged = None, False
        if self._answers.too_long:
            return "output", f"answered with more than {LONGEST_FRAME} bytes"
        if self._answers.ended:
            return "silence", "closed the channel that its answers go through"
        return None

    def _ask(self, wanted: dict[str, Any], body: bytes) -> None:
        self._forged = self._answers.forget() > 0 or self._forged
        self._open = str(wanted["nonce"])
        self._cpu_s = wanted["cpu_s"]
        self._cpu_until = math.inf if self._cpu_s is None else cpu_s() + self._cpu_s
        self._outgoing.put(framed(self._open.encode() + body))
        self.has_more_to_say = self._outgoing.write()
