"""Telling what happens: the events of an attempt, each under a key that a repeated step uses again."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable

from milepost.core.attempt import Attempt, Signal
from milepost.core.events import AgentSaid, AgentSignalled, AttemptFinished, CheckFinished, Event, RunBy
from milepost.core.verdict import CheckResult
from milepost.engine.services import RunServices
from milepost.engine.terminals.command_events import CommandTeller

NEWEST = 200  # lines that are remembered with an attempt
LINES_KEPT, LINE_KEPT = 1000, 500  # of what an agent says, in lines and characters a line


class CheckTeller:
    """Tells the checks of one verification, each under a key of its own."""

    def __init__(self, services: RunServices, run: str, task: str, attempt: int, key: str) -> None:
        self._here, self._run, self._task, self._attempt = services, run, task, attempt
        self._keys = (f"{key}/{number}" for number in itertools.count(1))

    def __call__(self, check: CheckResult) -> None:
        event = CheckFinished(
            run=self._run,
            task=self._task,
            attempt=self._attempt,
            name=check.name,
            outcome=check.outcome,
            summary=check.summary,
            duration_ms=check.duration_ms,
        )
        self._here.announce(event, next(self._keys))


class AgentOutput:
    """Passes on what an agent says, each line once under a key of its own.

    An agent that goes through what it said before, because it was cut short, is not listened to again.
    """

    def __init__(self, services: RunServices, run: str, task: str, attempt: int, replaying: Callable[[], bool]) -> None:
        self._here, self._run, self._task, self._attempt = services, run, task, attempt
        self._replaying = replaying
        self._lines = 0
        self.newest: deque[str] = deque(maxlen=NEWEST)
        self._key = f"{task}/{attempt}/said/"
        if not replaying():
            services.books.journal.drop_events(run, self._key, task=task, attempt=attempt)

    def __call__(self, text: str) -> None:
        text = self._here.shown(text)
        self._lines += 1
        self.newest.append(text[:LINE_KEPT])
        if self._lines <= LINES_KEPT:
            said = AgentSaid(run=self._run, task=self._task, attempt=self._attempt, text=text[:LINE_KEPT])
            tell = self._here.emit if self._replaying() else self._here.announce
            tell(said, f"{self._key}{self._lines}")


class SignalTeller:
    """Tells what an agent says of its confidence; what it said before it was cut short is not told again."""

    def __init__(self, services: RunServices, run: str, task: str, attempt: int) -> None:
        self._here, self._run, self._task, self._attempt = services, run, task, attempt
        self._numbers = itertools.count(1)

    def __call__(self, signal: Signal) -> None:
        event = AgentSignalled(
            run=self._run,
            task=self._task,
            attempt=self._attempt,
            kind=signal.kind,
            text=self._here.shown(signal.text)[:LINE_KEPT],
        )
        self._here.emit(event, f"{self._task}/{self._attempt}/signal/{next(self._numbers)}")


def command_teller(services: RunServices, run: str, task: str, attempt: int, by: RunBy) -> CommandTeller:
    """Tells the commands of one attempt, or of its verification."""

    def emit(event: Event, key: str) -> bool:
        new = services.books.journal.append(event, key)
        if new:
            services.tell(event)
        return new

    return CommandTeller(run=run, task=task, attempt=attempt, by=by, output=services.output, emit=emit)


def tell_attempt(services: RunServices, run: str, task: str, attempt: Attempt, key: str) -> None:
    event = AttemptFinished(
        run=run,
        task=task,
        attempt=attempt.number,
        agent=attempt.agent,
        verdict=attempt.evidence.verdict,
        reason=attempt.evidence.reason,
        commit=attempt.commit,
        duration_ms=attempt.duration_ms,
        cost_usd=attempt.outcome.cost_usd,
    )
    services.emit(event, f"{task}/{attempt.number}/{key}")
