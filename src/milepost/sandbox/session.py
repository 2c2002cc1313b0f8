"""The host's side of one executor session: questions go in on a pipe of their own, answers and output come back."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.sandbox.capture import FLOOD_BYTES, Capture
from milepost.sandbox.guests import Descriptors, Guest, Warden
from milepost.sandbox.launch import Launch
from milepost.sandbox.report import HowItEnded, Report, how_it_ended
from milepost.sandbox.walls.guest import LONGEST_FRAME

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


class Session:
    """One guest process that keeps its variables. `end` is for any thread, the rest for one."""

    def __init__(self, warden: Warden, launch: Launch) -> None:
        self._descriptors = Descriptors()
        try:
            requests, self._requests = self._descriptors.pipe()
            self._answers, answers = self._descriptors.pipe()
            self._output, output = self._descriptors.pipe()
            nothing = self._descriptors.nothing()
            self.guest: Guest = warden.launch(launch, (nothing, output, output, requests, answers))
        except BaseException:
            self._descriptors.close_all()
            raise
        self._descriptors.close(requests, answers, output, nothing)
        for descriptor in (self._requests, self._answers, self._output):
            os.set_blocking(descriptor, False)

    def ask(self, question: Mapping[str, Any], *, timeout_s: float, output: Capture) -> Reply:
        """Put one question and wait for its answer, for the end of the session, or for the end of time."""
        self._discard_unasked()
        nonce = secrets.token_hex(8)
        body = json.dumps({**question, "nonce": nonce}).encode()
        exchange = _Exchange(nonce, struct.pack(">I", len(body)) + body, output)
        answer = self._follow(exchange, timeout_s)
        self._read_output(output)
        # The relay tells of the start by itself; the answer may be quicker than it.
        while self.guest.report().pid is None and self.guest.listen():
            pass
        report = self.guest.report()
        if answer is not None:
            return Reply(answer=answer, ending=None, report=report, memory_bytes=_peak_memory(report.pid))
        how = how_it_ended(report, self.guest.ended_for)
        return Reply(answer=None, ending=how, report=report, memory_bytes=report.max_rss_bytes)

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
        while self.guest.listen():
            pass
        self.guest.close()
        self._descriptors.close_all()

    def _follow(self, exchange: _Exchange, timeout_s: float) -> Answer | None:
        deadline: float | None = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_WRITE)
            for descriptor in (self._answers, self._output, self.guest.status):
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
                ready = {key.fd for key, _ in selector.select(left_s)}
                if self._requests in ready and not exchange.ask(self._requests):
                    selector.unregister(self._requests)
                for descriptor in ready & {self._output, self._answers}:
                    piece = os.read(descriptor, _CHUNK)
                    if not piece:
                        selector.unregister(descriptor)
                    elif descriptor == self._output:
                        exchange.output.feed(piece)
                    else:
                        exchange.hear(piece)
                if exchange.answer is not None:
                    return exchange.answer
                if exchange.output.total > FLOOD_BYTES:
                    self.end(HowItEnded("output", f"wrote more than {FLOOD_BYTES} bytes"))
                if exchange.is_absurd:
                    self.end(HowItEnded("output", f"answered with more than {LONGEST_FRAME} bytes"))
                if deadline is not None and time.monotonic() >= deadline:
                    self.end(HowItEnded("timeout", f"ran longer than {timeout_s:g} s"))
                    deadline = None
                if self.guest.status in ready and not self.guest.listen():
                    return self._last_words(exchange)

    def _last_words(self, exchange: _Exchange) -> Answer | None:
        """An answer given just before the end still counts, unless the host had asked for the end."""
        if self.guest.ended_for is None:
            with contextlib.suppress(BlockingIOError):
                while piece := os.read(self._answers, _CHUNK):
                    exchange.hear(piece)
        return exchange.answer

    def _read_output(self, output: Capture) -> None:
        with contextlib.suppress(BlockingIOError):
            while output.total <= FLOOD_BYTES and (piece := os.read(self._output, _CHUNK)):
                output.feed(piece)

    def _discard_unasked(self) -> None:
        """What came after the last answer, from a thread left running or to forge the next answer, is nobody's."""
        for descriptor in (self._answers, self._output):
            with contextlib.suppress(BlockingIOError):
                for _ in range(_MOST_STALE_BYTES // _CHUNK):
                    if not os.read(descriptor, _CHUNK):
                        break


class _Exchange:
    """One question on its way out and its answer on the way in."""

    def __init__(self, nonce: str, frame: bytes, output: Capture) -> None:
        self.output = output
        self.answer: Answer | None = None
        self.is_absurd = False
        self._nonce = nonce
        self._unsent = memoryview(frame)
        self._heard = bytearray()

    def ask(self, requests: int) -> bool:
        """Send what fits; False when all is sent or nobody reads."""
        try:
            self._unsent = self._unsent[os.write(requests, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._unsent)

    def hear(self, piece: bytes) -> None:
        self._heard += piece
        while len(self._heard) >= 4 and not self.is_absurd:
            size = int.from_bytes(self._heard[:4], "big")
            self.is_absurd = size > LONGEST_FRAME
            if len(self._heard) < 4 + size:
                return
            body = bytes(self._heard[4 : 4 + size])
            del self._heard[: 4 + size]
            self.answer = self.answer or _parse(body, self._nonce)


def _parse(body: bytes, nonce: str) -> Answer | None:
    """The answer in a frame; None for a frame that answers no question of ours."""
    try:
        said = json.loads(body)
        if said["nonce"] != nonce:
            return None
        error = None if said["error"] is None else str(said["error"])
        verified_by = None if said["verified_by"] is None else str(said["verified_by"])
        final_value = json.loads(said["final_json"])
        return Answer(error=error, is_final=said["is_final"] is True, final_value=final_value, verified_by=verified_by)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _peak_memory(pid: int | None) -> int:
    """The most memory the guest ever held, by the kernel's account."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
