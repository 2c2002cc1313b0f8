"""The host's side of one Deno session: questions go to its standard input, answers come from its standard output."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.sandbox.capture_output import FLOOD_BYTES, Capture
from milepost.sandbox.launch import Launch
from milepost.sandbox.level_report import HowItEnded, Report, how_it_ended
from milepost.sandbox.walls.frames import LONGEST_FRAME, Frames, Outgoing, framed
from milepost.sandbox.warden_client import GLANCE_S, Descriptors, Guest, Warden

_CHUNK = 65_536
_PATIENCE_AT_START_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAnswer:
    """What the code said of itself, and what the runner, which it cannot reach, saw of it."""

    error: str | None
    is_final: bool
    value: Any
    verified_by: str | None
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptReply:
    """What one question came to: the answer, or how the session ended without one."""

    answer: ScriptAnswer | None
    ending: HowItEnded | None
    report: Report
    forged: bool


class ScriptSession:
    """One Deno process that keeps its variables. `end` is for any thread, the rest for one."""

    def __init__(self, warden: Warden, launch: Launch) -> None:
        self._descriptors = Descriptors()
        try:
            questions, self._questions = self._descriptors.pipe()
            self._answers, answers = self._descriptors.pipe()
            self._output, output = self._descriptors.pipe()
            self._guest: Guest = warden.launch(launch, (questions, answers, output))
        except BaseException:
            self._descriptors.close_all()
            raise
        self._descriptors.close(questions, answers, output)
        for descriptor in (self._questions, self._answers, self._output):
            os.set_blocking(descriptor, False)
        self._heard = Frames(self._answers, LONGEST_FRAME)
        self._is_ready = False

    def ask(
        self, question: Mapping[str, Any], *, cpu_s: float | None, timeout_s: float, output: Capture
    ) -> ScriptReply:
        """Put one question and wait for its answer, for the end of the session, or for the end of time.

        The time begins when Deno is ready.
        """
        self._wait_until_ready()
        self._discard_output()
        forged = self._heard.forget() > 0
        nonce = secrets.token_hex(16)
        frame = framed(json.dumps({**question, "nonce": nonce, "cpu_s": cpu_s}).encode())
        answer = self._follow(frame, nonce, timeout_s, output)
        self._read_output(output)
        while not self._guest.report().applied and self._guest.listen():
            pass
        report = self._guest.report()
        ending = None if answer is not None else how_it_ended(report, self._guest.ended_for)
        return ScriptReply(answer=answer, ending=ending, report=report, forged=forged)

    def is_over(self) -> bool:
        """Whether the guest was ended, or ended itself since the last question."""
        return self._guest.is_over()

    def end(self, reason: HowItEnded) -> None:
        self._guest.end(reason)

    def close(self) -> None:
        """End the guest, and return when its whole tree is gone."""
        self._guest.end_for_good()
        self._descriptors.close_all()

    def _wait_until_ready(self) -> None:
        """Return when Deno said so, which is the first thing it says, or when it ended without."""
        deadline = time.monotonic() + _PATIENCE_AT_START_S
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._answers, self._guest.status):
                selector.register(descriptor, selectors.EVENT_READ)
            while not self._is_ready:
                ready = {key.fd for key, _ in selector.select(max(0.0, deadline - time.monotonic()))}
                if not ready:
                    self.end(HowItEnded("timeout", f"Deno was not ready within {_PATIENCE_AT_START_S:g} s"))
                    return
                if self._answers in ready:
                    self._is_ready = any(self._heard.read()) or self._heard.ended
                if self._guest.status in ready and not self._guest.listen():
                    return

    def _follow(self, frame: bytes, nonce: str, timeout_s: float, output: Capture) -> ScriptAnswer | None:
        deadline: float | None = time.monotonic() + timeout_s
        outgoing = Outgoing(self._questions)
        outgoing.put(frame)
        with selectors.DefaultSelector() as selector:
            if outgoing.write():
                selector.register(self._questions, selectors.EVENT_WRITE)
            for descriptor in (self._answers, self._output, self._guest.status):
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                left_s = GLANCE_S if deadline is None else max(0.0, min(deadline - time.monotonic(), GLANCE_S))
                ready = {key.fd for key, _ in selector.select(left_s)}
                self._guest.insist_on_the_end()
                if self._questions in ready and not outgoing.write():
                    selector.unregister(self._questions)
                if self._output in ready and not self._hear_output(output):
                    selector.unregister(self._output)
                if self._answers in ready:
                    if answer := self._answer_to(nonce):
                        return answer
                    if self._heard.ended or self._heard.too_long:
                        selector.unregister(self._answers)
                if self._guest.status in ready and not self._guest.listen():
                    return None
                self._end_if_due(output, deadline, timeout_s)
                deadline = None if self._guest.ended_for else deadline

    def _end_if_due(self, output: Capture, deadline: float | None, timeout_s: float) -> None:
        if output.total > FLOOD_BYTES:
            self.end(HowItEnded("output", f"wrote more than {FLOOD_BYTES} bytes"))
        if self._heard.too_long:
            self.end(HowItEnded("output", f"answered with more than {LONGEST_FRAME} bytes"))
        if deadline is not None and time.monotonic() >= deadline:
            self.end(HowItEnded("timeout", f"ran longer than {timeout_s:g} s"))

    def _answer_to(self, nonce: str) -> ScriptAnswer | None:
        """The answer to this question among what was said; none once the host has asked for the end."""
        for body in self._heard.read():
            said = _parse(body, nonce)
            if isinstance(said, HowItEnded):
                self.end(said)
            elif said is not None and self._guest.ended_for is None:
                return said
        return None

    def _hear_output(self, output: Capture) -> bool:
        piece = os.read(self._output, _CHUNK)
        output.feed(piece)
        return bool(piece)

    def _read_output(self, output: Capture) -> None:
        with contextlib.suppress(BlockingIOError):
            while output.total <= FLOOD_BYTES and self._hear_output(output):
                pass

    def _discard_output(self) -> None:
        """What was written after the last answer is nobody's."""
        self._read_output(Capture(0))


def _parse(body: bytes, nonce: str) -> ScriptAnswer | HowItEnded | None:
    """The answer in a frame, or why there must be none; None for a frame that answers no question of ours."""
    try:
        said = json.loads(body)
        if said["nonce"] != nonce:
            return None
        if "excess" in said:
            return HowItEnded("cpu", "used up its processor time")
        return ScriptAnswer(
            error=None if said["error"] is None else str(said["error"]),
            is_final=said["is_final"] is True,
            value=json.loads(said["value_json"]),
            verified_by=None if said["verified_by"] is None else str(said["verified_by"]),
            memory_bytes=int(said["memory_bytes"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
