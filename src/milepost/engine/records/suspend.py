"""Parking: how a run stops without an end.

A parked run is one whose process leaves between two recorded steps. Nothing is recorded about
it: to the database it looks like a crash, and a crash is what a durable run goes on from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

TAKING_UP_S = 60.0  # from its start, or from the engine's
RECORDING_S = 10.0  # far longer than any record takes, also on a loaded machine


class Suspended(BaseException):
    """Leaves a workflow without recording an outcome: the engine records every `Exception` for good."""


class Terminated(KeyboardInterrupt):
    """An interruption by the system, such as a shutdown (SIGTERM), not by a person."""


class Suspension:
    """Lets steps finish, starts no new ones once asked to stop, and keeps the reason."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._workflows = 0
        self._expected: dict[str, float] = {}
        self._opened = time.monotonic()
        self._entered: set[str] = set()
        self._returned: dict[str, float] = {}
        self.patient = False  # others may do what was started, whenever they come to it
        self.stopping = False
        self.at_once = False
        self.failure: Exception | None = None

    def stop(self, *, at_once: bool = False) -> None:
        """Ask all workflows to park: after the steps in flight, or at once."""
        with self._changed:
            self.stopping = True
            self.at_once = self.at_once or at_once
            self._changed.notify_all()

    def fail(self, error: Exception) -> None:
        """Park because the machine failed; the first reason counts."""
        with self._changed:
            self.failure = self.failure or error
        self.stop()

    @contextmanager
    def workflow(self, workflow_id: str) -> Iterator[None]:
        """Around each workflow: while one is in this process, in a step or between two, the engine is not quiet."""
        with self._changed:
            self._entered.add(workflow_id)
            self._workflows += 1
        try:
            yield
            self._returned[workflow_id] = time.monotonic()
        finally:
            with self._changed:
                self._workflows -= 1
                self._changed.notify_all()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Around each step: refuses to start one while stopping, and to record one that was cut short."""
        with self._changed:
            if self.stopping:
                raise Suspended
        yield
        if self.at_once:
            raise Suspended

    def expect(self, workflow_id: str) -> None:
        """A workflow was started and should be taken up soon."""
        self._expected.setdefault(workflow_id, time.monotonic())

    def overdue(self, workflow_id: str) -> str:
        """Why a workflow can no longer be expected to end, in words; empty while it can."""
        now = time.monotonic()
        if self.patient:
            return ""
        if now - self._returned.get(workflow_id, now) > RECORDING_S:
            return "its end could not be recorded"
        if workflow_id not in self._entered and now - self._expected.get(workflow_id, self._opened) > TAKING_UP_S:
            return "it was not resumed"
        return ""

    def check(self) -> None:
        """Leave the step in flight when all is to stop at once."""
        if self.at_once:
            raise Suspended

    def pause(self, seconds: float) -> None:
        """Wait for so long in the middle of a step; leave it at a stop."""
        until = time.monotonic() + seconds
        with self._changed:
            while not self.stopping and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
            if self.stopping:
                raise Suspended

    def wait(self, seconds: float) -> None:
        """Wait for a change, or for so long."""
        with self._changed:
            self._changed.wait(seconds)

    def wait_for_return(self, workflow_ids: Iterable[str], seconds: float) -> bool:
        """Wait until one of these workflows came to its end in this process, or a stop, or for so long."""
        wanted = frozenset(workflow_ids)
        with self._changed:
            self._changed.wait_for(lambda: self.stopping or not wanted.isdisjoint(self._returned), seconds)
            return not wanted.isdisjoint(self._returned)

    @property
    def quiet(self) -> bool:
        """True when no workflow is in this process."""
        return self._workflows == 0
