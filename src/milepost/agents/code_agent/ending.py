"""How an attempt of a code agent ends before its model says so: out of time, or without an answer from its service."""

from __future__ import annotations

from milepost.agents.models.faults import Fault, limit_in_words
from milepost.core.attempt import OutcomeStatus


class AttemptOver(Exception):
    """The attempt is over."""

    def __init__(self, status: OutcomeStatus, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


def ended_by(fault: Fault) -> AttemptOver:
    return (
        AttemptOver("gave_up", fault.what)
        if fault.kind == "rejected"
        else AttemptOver("limited", limit_in_words(fault))
    )


class Time:
    """The time of one attempt: what its calls took, in this life and before, counts."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._used_s = 0.0

    def spend(self, seconds: float) -> None:
        self._used_s += seconds

    def left_s(self) -> float:
        """What is left; raises when nothing is."""
        left = self._timeout_s - self._used_s
        if left <= 0:
            raise self.out()
        return left

    def out(self) -> AttemptOver:
        return AttemptOver("timed_out", f"not finished after {self._timeout_s:g} s")
