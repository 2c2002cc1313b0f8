"""Runs of several projects side by side, each in a process of its own that dies with this one."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Annotated, Any

from pydantic import Field

from milepost.core.events import BudgetReached, Event, RunFinished
from milepost.core.verdict import Verdict
from milepost.engine.project.consent import for_children
from milepost.engine.records.values_json import load

OnEvent = Callable[[str, Event], None]

_AnyEvent: Any = Annotated[Event, Field(discriminator="event")]

_BEGIN = (
    "import runpy; from milepost.sandbox.walls.confine import die_with; "
    "die_with({parent}); runpy.run_module('milepost', run_name='__main__')"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRun:
    """The run of one project: its name, and the words of the command that does it."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegEnd:
    """How a leg ended: done when `why` is empty. `finished` is what its run came to, where it came to its end."""

    why: str = ""
    finished: RunFinished | None = None
    stopped: bool = False


Onward = Callable[[str, Event | LegEnd], Sequence[ProjectRun]]


def travel_abreast(
    legs: Sequence[ProjectRun], on_event: OnEvent, onward: Onward = lambda _, __: ()
) -> dict[str, LegEnd]:
    """Do all legs at once, telling their events as they come; an interruption is passed on, and waited for.

    `onward` hears every event and every end, and gives the legs that may begin after it: each of a project whose last
    one has ended. How the last leg of each project ended is the answer.
    """
    with ExitStack() as stack:
        lines: queue.Queue[tuple[str, bytes]] = queue.Queue()
        travellers: dict[str, _Traveller] = {}
        ends: dict[str, LegEnd] = {}
        interrupted = stack.enter_context(_interruptions_to(travellers))

        def begin(more: Sequence[ProjectRun]) -> None:
            for leg in more if not interrupted.is_set() else ():
                travellers[leg.name] = stack.enter_context(_Traveller(leg))
                travellers[leg.name].listen(lines)
                if interrupted.is_set():  # it came while this one was on its way
                    travellers[leg.name].interrupt()

        begin(legs)
        while travellers:
            name, line = lines.get()
            if not line:
                ends[name] = travellers.pop(name).end()
                begin(onward(name, ends[name]))
            elif (event := travellers[name].hear(line)) is not None:
                on_event(name, event)
                begin(onward(name, event))
        return ends


@contextmanager
def _interruptions_to(travellers: Mapping[str, _Traveller]) -> Iterator[threading.Event]:
    """Pass interruptions on instead of raising them, so that none is lost, and no event with it."""
    interrupted = threading.Event()

    def pass_on(_: int, __: object) -> None:
        interrupted.set()
        for traveller in tuple(travellers.values()):
            traveller.interrupt()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted  # interruptions reach only the main thread
        return
    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Traveller:
    """One process, what it says, and how it ends."""

    def __init__(self, leg: ProjectRun) -> None:
        self._leg = leg
        self._last: dict[str, Any] = {}
        self._wall = ""
        self._interrupted = False

    def __enter__(self) -> _Traveller:
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEGIN.format(parent=os.getpid()), *self._leg.words],
            env=for_children(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            start_new_session=True,  # an interruption reaches it through us alone
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._complaints.close()

    def listen(self, lines: queue.Queue[tuple[str, bytes]]) -> None:
        """Put every line into a queue as it comes, and an empty one when no more will come."""

        def read() -> None:
            assert self._process.stdout is not None
            for line in self._process.stdout:
                lines.put((self._leg.name, line))
            lines.put((self._leg.name, b""))

        threading.Thread(target=read, name=f"listens to {self._leg.name}", daemon=True).start()

    def hear(self, line: bytes) -> Event | None:
        """The event that a line tells of; None for one that says how it ended."""
        try:
            told = json.loads(line)
        except ValueError:
            return None
        self._last = told if isinstance(told, dict) else {}
        event = _event(told)
        if isinstance(event, BudgetReached):
            self._wall = event.message
        return event

    def interrupt(self) -> None:
        self._interrupted = True
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def end(self) -> LegEnd:
        code = self._process.wait()
        finished = _event(self._last) if self._last.get("event") == "run_finished" else None
        if isinstance(finished, RunFinished):
            return LegEnd(why="" if finished.passed else _unfinished(finished, self._wall), finished=finished)
        match self._last.get("event"):
            case "nothing_to_do" if code == 0:
                return LegEnd(why=f"nothing was left to do: {self._last.get('reason', '')}; try again")
            case "run_stopped":
                waits = self._last.get("waits_for") or ()
                asked = (
                    f"waits for you: {', '.join(waits)}; run milepost gates there to see the questions" if waits else ""
                )
                return LegEnd(why=asked or self._wall or "was stopped", stopped=not waits and not self._wall)
        if self._interrupted:
            return LegEnd(why="was stopped", stopped=True)
        return LegEnd(why=self._wall or self._complaint() or f"its process ended with {code}")

    def _complaint(self) -> str:
        """What it said was wrong, and what to do about it."""
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").splitlines()
        at = next((n for n, line in enumerate(lines) if line.startswith("error: ")), None)
        if at is None:
            return lines[-1] if lines else ""
        return "; ".join(line.strip().removeprefix("error: ") for line in lines[at : at + 2])


def _event(told: object) -> Event | None:
    """The event that was told; None when it is none."""
    try:
        event: Event = load(_AnyEvent, told)
    except ValueError:
        return None
    return event


def _unfinished(finished: RunFinished, wall: str) -> str:
    others = [task for task in finished.tasks if task.verdict is not Verdict.PASSED]
    first = next((task for task in others if task.verdict is not None), others[0])
    what = f"{first.id} {first.verdict.value if first.verdict else 'waits'}"
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    return f"{what}: {wall or first.reason}{more}"
