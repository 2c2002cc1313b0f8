"""Questions of the host to a session, its calls of the host's tools and its answers: passed on as its own words.

One call at a time, and only while a question is open: so there is never more than one thing to pass on.
"""

from __future__ import annotations

import json
import math
import os
import socket
from typing import Any, Protocol

from . import overlay
from .frames import (
    ANSWER,
    CALL,
    LONGEST_FRAME,
    LONGEST_QUESTION,
    QUESTION,
    RESULT,
    TOKEN_BYTES,
    Frames,
    Outgoing,
    framed,
)
from .sweep import cpu_s, peak_memory

_HEAD_BYTES = 1000
_COLLECT_WITHIN_S = 10.0  # the guest is served nothing in the meantime
_LOOK_AT_CPU_MS = 20.0


class Tells(Protocol):
    """Who says facts to the host."""

    def tell(self, **facts: object) -> None: ...


class SessionRelay:
    """Holds the only way from a session to the host. What nobody waits for goes nowhere, and is noted."""

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
        self._calls = False
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
            elif "result_for" in wanted:
                self._give_result(wanted["result_for"], body)
            elif self._changes is not None:
                overlay.collect(self._changes, within_s=_COLLECT_WITHIN_S)
                self._host.tell(changes=wanted["changes"])
        return not self._questions.ended

    def hear_the_guest(self) -> tuple[str, str] | None:
        """Let the guest have what is left to say to it, and take what it says; why it can say no more, if so."""
        self.has_more_to_say = self._outgoing.write()
        for frame in self._answers.read():
            said, words = frame[: TOKEN_BYTES + 1], frame[TOKEN_BYTES + 1 :].decode(errors="replace")
            if said == self._expected(ANSWER):
                self._pass_answer(words)
            elif said == self._expected(CALL) and not self._calls and not self.has_more_to_say:
                self._calls = True
                self._host.tell(nonce=self._open, call=words)
            else:
                self._forged = True
        if self._answers.too_long:
            return "output", f"answered with more than {LONGEST_FRAME} bytes"
        if self._answers.ended:
            return "silence", "closed the channel that its answers go through"
        return None

    def _expected(self, kind: bytes) -> bytes | None:
        """How something of this kind begins, if it is said about the open question."""
        return None if self._open is None else self._open.encode() + kind

    def _pass_answer(self, words: str) -> None:
        self._host.tell(
            nonce=self._open,
            answer=words,
            forged=self._forged,
            memory_bytes=peak_memory(self._guest),
            refused=self.refused,
        )
        self._open, self._calls, self._forged = None, False, False
        self._cpu_at_answer = 0.0 if self._cpu_s is None else cpu_s()
        self._cpu_until = self._cpu_at_answer + (self._cpu_s or math.inf)

    def _give_result(self, nonce: str, body: bytes) -> None:
        """Give the guest what came of its call, unless it has answered meanwhile."""
        if self._calls and nonce == self._open:
            self._calls = False
            self._say(RESULT, body)

    def _say(self, kind: bytes, body: bytes) -> None:
        assert self._open is not None
        self._outgoing.put(framed(self._open.encode() + kind + body))
        self.has_more_to_say = self._outgoing.write()

    def _ask(self, wanted: dict[str, Any], body: bytes) -> None:
        self._forged = self._answers.forget() > 0 or self._forged
        self._open, self._calls = str(wanted["nonce"]), False
        self._cpu_s = wanted["cpu_s"]
        self._cpu_until = math.inf if self._cpu_s is None else self._cpu_at_answer + self._cpu_s
        self._say(QUESTION, body)
