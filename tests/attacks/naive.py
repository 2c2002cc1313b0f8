"""The positive control: a host that runs code as is often done, in its own process or in a plain child.

It believes what it reads and waits for what it started, no more. Each control has such a host of its own, forked from
the one that owns the plants, so that it holds the same secrets and may die.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tests.attacks import plants
from tests.attacks.attack import Attack

_GRACE_S = 0.4
_MOST_KEPT = 1 << 20
_PATIENCE_WITH_SIGTERM_MS = 200


class Control:
    """A naive host while it runs one attack, as its parent sees it."""

    def __init__(self, attack: Attack, code: Callable[[int], str], work: Path, left_open: tuple[int, ...]) -> None:
        self.said_bytes = 0
        self._deadline = time.monotonic() + attack.timeout_s + _GRACE_S
        self._output, output = os.pipe()
        self._verdict, verdict = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _close_all_but({0, 1, 2, output, verdict, *left_open})
                os.chdir(work)
                _be_host(attack, code(os.getpid()), output, verdict)
            finally:
                os._exit(1)
        os.close(output)
        os.close(verdict)

    def outcome(self) -> tuple[str, dict[str, Any] | None, bool]:
        """What was said, what the naive host concluded if it still could, and whether all that took too long."""
        texts = {self._output: bytearray(), self._verdict: bytearray()}
        ended = os.pidfd_open(self._pid)
        poller = select.poll()
        for descriptor in (*texts, ended):
            poller.register(descriptor, select.POLLIN)
        late = False
        while b"\n" not in texts[self._verdict] and not late:
            ready = [number for number, _ in poller.poll(max(0.0, self._deadline - time.monotonic()) * 1000)]
            late = not ready
            for descriptor in ready:
                if descriptor in texts and not self._read(descriptor, texts):
                    poller.unregister(descriptor)
            if ready == [ended]:
                break
        for descriptor in texts:
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                while self._read(descriptor, texts):
                    pass
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        for descriptor in (*texts, ended):
            os.close(descriptor)
        return texts[self._output].decode(errors="replace"), _last_object(bytes(texts[self._verdict])), late

    def _read(self, descriptor: int, texts: dict[int, bytearray]) -> bool:
        """Keep the end of what is there to read; False when nobody will write more."""
        piece = os.read(descriptor, 1 << 18)
        texts[descriptor] += piece
        if len(texts[descriptor]) > 4 * _MOST_KEPT:
            del texts[descriptor][:-_MOST_KEPT]
        self.said_bytes += len(piece) if descriptor == self._output else 0
        return bool(piece)


def _be_host(attack: Attack, code: str, output: int, verdict: int) -> NoReturn:
    before = plants.state_of_process()
    os.setsid()
    for target in (1, 2):
        os.dup2(output, target)
    sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1, closefd=False)
    ask = _Child(verdict, attack.timeout_s).ask if attack.control == "in a child" else _InProcess().ask
    answers = [ask(each) for each in (code, attack.then) if each]
    held = [size for answer in answers if (size := len(json.dumps(answer))) > _MOST_KEPT]
    altered = [] if plants.state_of_process() == before else [plants.state_of_process()]
    concluded = {"last": None if held else answers[-1], "altered": altered, "held": held}
    os.write(verdict, json.dumps(concluded).encode() + b"\n")
    os._exit(0)


class _InProcess:
    """Runs code where the host runs."""

    def __init__(self) -> None:
        self._names = _names()

    def ask(self, code: str) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": True, "value": None, "error": None}
        self._names["final_answer"] = lambda value, verified_by=None: answer.update(value=value)
        try:
            exec(code, self._names)
        except BaseException as problem:
            answer.update(ok=False, error=f"{type(problem).__name__}: {problem}")
        return json.loads(json.dumps(answer, default=repr))  # type: ignore[no-any-return]


class _Child:
    """Runs code in a child that keeps its variables. The next line that it writes is its answer."""

    def __init__(self, verdict: int, timeout_s: float) -> None:
        questions, self._questions = os.pipe()
        self._answers, answers = os.pipe()
        self._timeout_s = timeout_s
        self._heard = b""
        self._pid = os.fork()
        if self._pid == 0:
            for descriptor in (self._questions, self._answers, verdict):
                os.close(descriptor)
            _be_child(questions, answers)
        os.close(questions)
        os.close(answers)
        self._ended = os.pidfd_open(self._pid)

    def ask(self, code: str) -> dict[str, Any]:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._questions, json.dumps(code).encode() + b"\n")
        poller = select.poll()
        poller.register(self._ended, select.POLLIN)
        poller.register(self._answers, select.POLLIN)
        deadline = time.monotonic() + self._timeout_s
        while b"\n" not in self._heard:
            ready = [number for number, _ in poller.poll(max(0.0, deadline - time.monotonic()) * 1000)]
            if not ready:
                self._end()
                return {"ok": False, "value": None, "error": "timeout"}
            piece = os.read(self._answers, 65536) if self._answers in ready else b""
            self._heard += piece
            if not piece and self._ended in ready:
                return {"ok": os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]) == 0, "value": None}
            if not piece:
                poller.unregister(self._answers)
        line, _, self._heard = self._heard.partition(b"\n")
        return _last_object(line) or {"ok": False, "value": None, "error": "no answer"}

    def _end(self) -> None:
        os.kill(self._pid, signal.SIGTERM)
        poller = select.poll()
        poller.register(self._ended, select.POLLIN)
        poller.poll(_PATIENCE_WITH_SIGTERM_MS)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _be_child(questions: int, answers: int) -> NoReturn:
    names = _names()

    def tell(ok: bool, value: object = None, error: str | None = None) -> None:
        os.write(answers, json.dumps({"ok": ok, "value": value, "error": error}, default=repr).encode() + b"\n")

    with os.fdopen(questions) as lines:
        for line in lines:
            names["final_answer"] = lambda value, verified_by=None: tell(True, value)
            try:
                exec(json.loads(line), names)
                tell(True)
            except SystemExit as leaving:
                os._exit(leaving.code or 0)  # type: ignore[arg-type]
            except Exception as problem:
                tell(False, error=f"{type(problem).__name__}: {problem}")
    os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    for entry in list(Path("/proc/self/fd").iterdir()):
        if int(entry.name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(entry.name))


def _names() -> dict[str, Any]:
    return {"__name__": "__main__", "host_tool": plants.host_tool}


def _last_object(text: bytes) -> dict[str, Any] | None:
    for line in reversed(text.splitlines()):
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict):
                return found
    return None
