"""Parking: how a run stops without an end.

A parked run is one whose process leaves between two recorded steps. Nothing is recorded about
it: to the database it looks like a crash, and a crash is what a durable run goes on from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

RECORDING_S = 30.0


class Parked(BaseException):
    """Leaves a workflow without recording an outcome: the engine records every `Exception` for good."""


class Parking:
    """Lets steps finish, starts no new ones once asked to stop, and keeps the reason."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._steps = 0
        self._returned: dict[str, float] = {}
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
    def step(self) -> Iterator[None]:
        """Around each step: refuses to start one while stopping, and to record one that was cut short."""
        with self._changed:
            if self.stopping:
                raise Parked
            self._steps += 1
        try:
            yield
            if self.at_once:
                raise Parked
        finally:
            with self._changed:
                self._steps -= 1
                self._changed.notify_all()

    def returned(self, workflow_id: str) -> None:
        """A workflow came to its end, which is about to be recorded."""
        with self._changed:
            self._returned[workflow_id] = time.monotonic()
            self._changed.notify_all()

    def overdue(self, workflow_id: str) -> bool:
        """True when the end of a workflow should have been recorded long ago and was not."""
        returned = self._returned.get(workflow_id)
        return returned is not None and time.monotonic() - returned > RECORDING_S

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
        """True when no step is in flight."""
        return self._steps == 0
