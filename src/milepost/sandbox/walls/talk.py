"""Questions of the host to a session, and the session's answers: passed on one at a time, as its own words."""

from __future__ import annotations

import json
import math
import os
import socket
from typing import Any, Protocol

from . import overlay
from .frames import LONGEST_FRAME, LONGEST_QUESTION, TOKEN_BYTES, Frames, Outgoing, framed
from .sweep import cpu_s, peak_memory

_HEAD_BYTES = 1000
_COLLECT_WITHIN_S = 10.0  # the guest is served nothing in the meantime
_LOOK_AT_CPU_MS = 20.0


class Tells(Protocol):
    """Who says facts to the host."""

    def tell(self, **facts: object) -> None: ...


class Talk:
    """Holds the only way from a session to the host. An answer that nobody asked for goes nowhere, and is noted."""

    def __init__(self, host: Tells, guest: int, questions: int, channel: socket.socket, changes: int | None) -> None:
        self._host = host
        self._guest = guest
        self._channel = channel
        self._changes = changes
        self.channel = channel.fileno()
        os.set_blocking(questions, False)
        channel.setblocking(False)
        self._questions = Frames(questions, LONGEST_QUESTION + _HEAD_BYTES)
        self._answers = Frames(self.channel, LONGEST_FRAME)
        self._outgoing = Outgoing(self.channel)
        self.has_more_to_say = False
        self._open: str | None = None
        self._forged = False
        self.refused: tuple[str, ...] = ()
        self._cpu_s: float | None = None
        self._cpu_until = math.inf
        self._cpu_at_answer = 0.0

    @property
    def interval_ms(self) -> float | None:
        """How often `excess` is to be asked; None while nothing is measured."""
        return None if self._cpu_s is None else _LOOK_AT_CPU_MS

    @property
    def is_asked(self) -> bool:
        """Whether a question waits for its answer."""
        return self._open is not None

    def excess(self) -> tuple[str, str] | None:
        """Whether a question has used up its processor time, with what was used since the answer before it."""
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
                overlay.collect(self._changes, within_s=_COLLECT_WITHIN_S)
                self._host.tell(changes=wanted["changes"])
        return not self._questions.ended

    def hear_the_guest(self) -> tuple[str, str] | None:
        """Let the guest have what is left to say to it, and take its answer; why it can answer no more, if so."""
        self.has_more_to_say = self._outgoing.write()
        for frame in self._answers.read():
            token, answer = frame[:TOKEN_BYTES], frame[TOKEN_BYTES:]
            if self._open is None or token != self._open.encode():
                self._forged = True
                continue
            self._host.tell(
                nonce=self._open,
                answer=answer.decode(errors="replace"),
                forged=self._forged,
                memory_bytes=peak_memory(self._guest),
                refused=self.refused,
            )
            self._open, self._forged = None, False
            self._cpu_at_answer = 0.0 if self._cpu_s is None else cpu_s()
            self._cpu_until = self._cpu_at_answer + (self._cpu_s or math.inf)
        if self._answers.too_long:
            return "output", f"answered with more than {LONGEST_FRAME} bytes"
        if self._answers.ended:
            return "silence", "closed the channel that its answers go through"
        return None

    def _ask(self, wanted: dict[str, Any], body: bytes) -> None:
        self._forged = self._answers.forget() > 0 or self._forged
        self._open = str(wanted["nonce"])
        self._cpu_s = wanted["cpu_s"]
        self._cpu_until = math.inf if self._cpu_s is None else self._cpu_at_answer + self._cpu_s
        self._outgoing.put(framed(self._open.encode() + body))
        self.has_more_to_say = self._outgoing.write()
