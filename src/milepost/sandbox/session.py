"""The host's side of one executor session: questions go in; the session's calls and answers come back, with facts."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import IO, Any

from milepost.core.errors import MachineFailed
from milepost.sandbox.capture_output import FLOOD_BYTES, Capture
from milepost.sandbox.egress.launch import Outlet
from milepost.sandbox.host_calls import MOST_CALLS, Calls, Tool
from milepost.sandbox.json_values import read_plain
from milepost.sandbox.launch import Launch
from milepost.sandbox.level_report import HowItEnded, Report, how_it_ended
from milepost.sandbox.visible_paths import Missing
from milepost.sandbox.walls.frames import LONGEST_QUESTION, Outgoing, framed
from milepost.sandbox.warden_client import GLANCE_S, Descriptors, Guest, Launcher

_CHUNK = 65_536
_MOST_STALE_BYTES = 10_000_000
LOOK_S = 0.2  # how often to glance, where somebody does
NO_TOOLS: Mapping[str, Tool] = MappingProxyType({})

Glance = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer:
    """What the code said of itself."""

    error: str | None
    is_final: bool
    final_value: Any
    verified_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReply:
    """What one question came to: the answer, or how the session ended without one."""

    answer: CodeAnswer | None
    ending: HowItEnded | None
    report: Report
    memory_bytes: int
    forged: bool = False


class CodeSession:
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

    def ask(
        self,
        question: bytes,
        *,
        cpu_s: float | None,
        timeout_s: float,
        output: Capture,
        tools: Mapping[str, Tool] = NO_TOOLS,
        glance: Glance | None = None,
    ) -> CodeReply:
        """Put one question and wait for its answer, for the end of the session, or for the end of time.

        A call of a tool is never broken off: when the session ends in the middle of one, its end is waited for. What
        `glance` raises, which is called all the while, ends the session.
        """
        self._discard_unasked()
        nonce = secrets.token_hex(8)
        head = json.dumps({"nonce": nonce, "cpu_s": cpu_s}).encode()
        frame = framed(head + b"\n" + question)
        with Calls(tools) as calls:
            said = self._follow(nonce, frame, calls, timeout_s, output, glance)
        self._read_output(output)
        # The relay tells of the start by itself; the answer may be quicker than it.
        self.wait_until_open()
        report = self.guest.report()
        report = replace(report, refused=(*report.refused, *self._outlet.refused))
        if said is None:
            how = how_it_ended(report, self.guest.ended_for)
            return CodeReply(answer=None, ending=how, report=report, memory_bytes=report.memory_bytes)
        report = replace(report, refused=(*said["refused"], *self._outlet.refused))
        memory_bytes = max(int(said["memory_bytes"]), report.peak_bytes)
        answer = _parse(said["answer"])
        return CodeReply(answer=answer, ending=None, report=report, memory_bytes=memory_bytes, forged=said["forged"])

    def changes(self) -> IO[bytes]:
        """What the session has changed in its workspace so far, as its relay collected it; for the caller to close."""
        assert self._changes is not None, "only a session with an overlay keeps its changes apart"
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
        return self.guest.is_over()

    def end(self, reason: HowItEnded) -> None:
        self.guest.end(reason)

    def close(self) -> None:
        """End the guest, and return when its whole tree is gone."""
        self.guest.end_for_good()
        self._outlet.close()
        self._descriptors.close_all()

    @property
    def _is_open(self) -> bool:
        report = self.guest.report()
        return report.started or report.failure is not None

    def _follow(
        self, nonce: str, frame: bytes, calls: Calls, timeout_s: float, output: Capture, glance: Glance | None
    ) -> dict[str, Any] | None:
        patience_s = GLANCE_S if glance is None else LOOK_S
        deadline: float | None = time.monotonic() + timeout_s
        outgoing = Outgoing(self._questions)
        outgoing.put(frame)
        with selectors.DefaultSelector() as selector:
            self._write(outgoing, selector)
            for descriptor in (self._output, self.guest.status, calls.ready):
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                left_s = patience_s if deadline is None else max(0.0, min(deadline - time.monotonic(), patience_s))
                ready = {key.fd for key, _ in selector.select(left_s)}
                self.guest.insist_on_the_end()
                self._let_glance(glance)
                if calls.ready in ready:
                    outgoing.put(framed(json.dumps({"result_for": nonce}).encode() + b"\n" + calls.take()))
                if self._questions in ready or calls.ready in ready:
                    self._write(outgoing, selector)
                if self._output in ready:
                    if piece := os.read(self._output, _CHUNK):
                        output.feed(piece)
                    else:
                        selector.unregister(self._output)
                if self.guest.status in ready:
                    goes_on = self.guest.listen()
                    if (said := self._answer_to(nonce, calls)) is not None or not goes_on:
                        return said
                if output.total > FLOOD_BYTES:
                    self.end(HowItEnded("output", f"wrote more than {FLOOD_BYTES} bytes"))
                if deadline is not None and time.monotonic() >= deadline:
                    self.end(HowItEnded("timeout", f"ran longer than {timeout_s:g} s"))
                    deadline = None

    def _let_glance(self, glance: Glance | None) -> None:
        if glance is not None:
            try:
                glance()
            except BaseException:
                self.end(HowItEnded("killed", "killed because its caller had to stop"))
                raise

    def _write(self, outgoing: Outgoing, selector: selectors.BaseSelector) -> None:
        """Write what fits, and see to it that the rest is written when it does."""
        is_waiting = self._questions in selector.get_map()
        if outgoing.write() is is_waiting:
            return
        if is_waiting:
            selector.unregister(self._questions)
        else:
            selector.register(self._questions, selectors.EVENT_WRITE)

    def _answer_to(self, nonce: str, calls: Calls) -> dict[str, Any] | None:
        """The answer if the relay passed it on, calls begun before; nothing once the host has asked for the end."""
        while self.guest.said:
            said = self.guest.said.popleft()
            if said["nonce"] != nonce or self.guest.ended_for is not None:
                continue
            if "answer" in said:
                return said
            if not calls.begin(said["call"]):
                self.end(HowItEnded("killed", f"killed because it called functions of the host {MOST_CALLS + 1} times"))
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


def asked(code: str, inject: Mapping[str, Any], tools: Collection[str] = ()) -> bytes | Missing:
    """A question as it goes to a session, `tools` being what it may call; or why it is none."""
    question = json.dumps({"code": code, "inject": inject, "tools": list(tools)}).encode()
    if len(question) > LONGEST_QUESTION:
        return Missing(f"the code and what is given to it are longer than {LONGEST_QUESTION} bytes")
    return question


def _parse(text: str) -> CodeAnswer:
    """The answer in the words of a session; words that are no answer are an error of the session's."""
    try:
        said = read_plain(text)
        error = None if said["error"] is None else str(said["error"])
        verified_by = None if said["verified_by"] is None else str(said["verified_by"])
        final_value = read_plain(said["final_json"])
        return CodeAnswer(
            error=error, is_final=said["is_final"] is True, final_value=final_value, verified_by=verified_by
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        error = "the code sent something on its channel that is not an answer"
        return CodeAnswer(error=error, is_final=False, final_value=None, verified_by=None)
