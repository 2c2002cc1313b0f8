"""The host's side of one executor session: questions go in, the session's answers and its relay's facts come back."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

from milepost.core.errors import MachineFailed
from milepost.sandbox.capture import FLOOD_BYTES, Capture
from milepost.sandbox.guests import GLANCE_S, Descriptors, Guest, Launcher
from milepost.sandbox.launch import Launch
from milepost.sandbox.outlet import Outlet
from milepost.sandbox.reach import Missing
from milepost.sandbox.report import HowItEnded, Report, how_it_ended
from milepost.sandbox.walls.frames import LONGEST_QUESTION, Outgoing, framed

_CHUNK = 65_536
_MOST_STALE_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the code said of itself."""

    error: str | None
    is_final: bool
    final_value: Any
    verified_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one question came to: the answer, or how the session ended without one."""

    answer: Answer | None
    ending: HowItEnded | None
    report: Report
    memory_bytes: int
    forged: bool = False


class Session:
    """One guest process that keeps its variables. `end` is for any thread, the rest for one."""

    def __init__(self, launcher: Launcher, launch: Launch) -> None:
        self._descriptors = Descriptors()
        self._changes: int | None = None
        self._outlet = Outlet(launch)
        try:
            questions, self._questions = self._descriptors.pipe()
            self._output, output = self._descriptors.pipe()
            nothing = self._descriptors.nothing()
            theirs = [nothing, output, output, questions]
            if launch.overlay is not None:
                self._changes = self._descriptors.adopt(os.memfd_create("changes"))
                theirs.append(self._changes)
            self.guest: Guest = launcher.launch(self._outlet.launch, tuple(theirs), self._outlet.connect)
        except BaseException:
            self._descriptors.close_all()
            self._outlet.close()
            raise
        self._descriptors.close(questions, output, nothing)
        for descriptor in (self._questions, self._output):
            os.set_blocking(descriptor, False)

    def wait_until_open(self) -> None:
        """Return when the session stands behind its walls, or has failed to."""
        while not self._is_open and self.guest.listen():
            pass

    def ask(self, question: bytes, *, cpu_s: float | None, timeout_s: float, output: Capture) -> Reply:
        """Put one question and wait for its answer, for the end of the session, or for the end of time."""
        self._discard_unasked()
        nonce = secrets.token_hex(8)
        head = json.dumps({"nonce": nonce, "cpu_s": cpu_s}).encode()
        frame = framed(head + b"\n" + question)
        said = self._follow(nonce, frame, timeout_s, output)
        self._read_output(output)
        # The relay tells of the start by itself; the answer may be quicker than it.
        self.wait_until_open()
        report = self.guest.report()
        report = replace(report, refused=(*report.refused, *self._outlet.refused))
        if said is None:
            how = how_it_ended(report, self.guest.ended_for)
            return Reply(answer=None, ending=how, report=report, memory_bytes=report.memory_bytes)
        report = replace(report, refused=(*said["refused"], *self._outlet.refused))
        memory_bytes = max(int(said["memory_bytes"]), report.peak_bytes)
        answer = _parse(said["answer"])
        return Reply(answer=answer, ending=None, report=report, memory_bytes=memory_bytes, forged=said["forged"])

    def changes(self) -> IO[bytes]:
        """What the session has changed in its workspace so far, as its relay collected it; for the caller to close."""
        assert self._changes is not None, "only a session with an overlay holds its changes back"
        number = self.guest.report().changes + 1
        outgoing = Outgoing(self._questions)
        outgoing.put(framed(json.dumps({"changes": number}).encode() + b"\n"))
        while outgoing.write():
            pass
        while self.guest.report().changes < number:
            if not self.guest.listen():
                raise MachineFailed("the session ended before its changes were collected", "run it again")
        collected = os.fdopen(os.dup(self._changes), "rb")
        collected.seek(0)
        return collected

    def is_over(self) -> bool:
        """Whether the guest was ended, or ended itself since the last question."""
        if self.guest.ended_for is not None:
            return True
        with selectors.DefaultSelector() as selector:
            selector.register(self.guest.status, selectors.EVENT_READ)
            while selector.select(0):
                if not self.guest.listen():
                    return True
        return False

    def end(self, reason: HowItEnded) -> None:
        self.guest.end(reason)

    def close(self) -> None:
        """End the guest, and return when its whole tree is gone."""
        self.guest.end(HowItEnded("killed", "the session was closed"))
        self.guest.hear_it_out()
        self.guest.close()
        self._outlet.close()
        self._descriptors.close_all()

    @property
    def _is_open(self) -> bool:
        report = self.guest.report()
        return report.started or report.failure is not None

    def _follow(self, nonce: str, frame: bytes, timeout_s: float, output: Capture) -> dict[str, Any] | None:
        deadline: float | None = time.monotonic() + timeout_s
        outgoing = Outgoing(self._questions)
        outgoing.put(frame)
        with selectors.DefaultSelector() as selector:
            if outgoing.write():
                selector.register(self._questions, selectors.EVENT_WRITE)
            for descriptor in (self._output, self.guest.status):
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                left_s = GLANCE_S if deadline is None else max(0.0, min(deadline - time.monotonic(), GLANCE_S))
                ready = {key.fd for key, _ in selector.select(left_s)}
                self.guest.insist_on_the_end()
                if self._questions in ready and not outgoing.write():
                    selector.unregister(self._questions)
                if self._output in ready:
                    if piece := os.read(self._output, _CHUNK):
                        output.feed(piece)
                    else:
                        selector.unregister(self._output)
                if self.guest.status in ready:
                    goes_on = self.guest.listen()
                    if (said := self._answer_to(nonce)) is not None or not goes_on:
                        return said
                if output.total > FLOOD_BYTES:
                    self.end(HowItEnded("output", f"wrote more than {FLOOD_BYTES} bytes"))
                if deadline is not None and time.monotonic() >= deadline:
                    self.end(HowItEnded("timeout", f"ran longer than {timeout_s:g} s"))
                    deadline = None

    def _answer_to(self, nonce: str) -> dict[str, Any] | None:
        """What the relay passed on; nothing once the host has asked for the end."""
        while self.guest.answers:
            said = self.guest.answers.popleft()
            if said["nonce"] == nonce and self.guest.ended_for is None:
                return said
        return None

    def _read_output(self, output: Capture) -> None:
        with contextlib.suppress(BlockingIOError):
            while output.total <= FLOOD_BYTES and (piece := os.read(self._output, _CHUNK)):
                output.feed(piece)

    def _discard_unasked(self) -> None:
        """What was written after the last answer, from a thread left running, is nobody's."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_MOST_STALE_BYTES // _CHUNK):
                if not os.read(self._output, _CHUNK):
                    break


def asked(code: str, inject: Mapping[str, Any]) -> bytes | Missing:
    """A question as it goes to a session; or why it is none."""
    question = json.dumps({"code": code, "inject": inject}).encode()
    if len(question) > LONGEST_QUESTION:
        return Missing(f"the code and what is given to it are longer than {LONGEST_QUESTION} bytes")
    return question


def _parse(text: str) -> Answer:
    """The answer in the words of a session; words that are no answer are an error of the session's."""
    try:
        said = json.loads(_as_text(json.loads(text)))
        error = None if said["error"] is None else str(said["error"])
        verified_by = None if said["verified_by"] is None else str(said["verified_by"])
        final_value = json.loads(_as_text(json.loads(said["final_json"])))
        return Answer(error=error, is_final=said["is_final"] is True, final_value=final_value, verified_by=verified_by)
    except (ValueError, TypeError, KeyError, RecursionError):
        error = "the code put something on its channel that is no answer"
        return Answer(error=error, is_final=False, final_value=None, verified_by=None)


def _as_text(value: Any) -> str:
    """The value as JSON that is all Unicode: halves of characters, which no file can hold, become question marks."""
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()
