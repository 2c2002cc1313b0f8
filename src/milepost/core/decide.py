"""What happens next with a task, from the verdict and the attempts so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from milepost.core.attempt import Attempt
from milepost.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Land:
    """The work is proven: make it a milepost."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Try again, with what failed."""


@dataclass(frozen=True, slots=True)
class Leave:
    """End the task without a milepost."""

    reason: str


Next = Land | Repair | Leave


def decide(history: tuple[Attempt, ...], *, attempts_allowed: int) -> Next:
    """What to do after the last attempt of `history`."""
    last = history[-1]
    match last.evidence.verdict:
        case Verdict.PASSED:
            return Land()
        case Verdict.UNVERIFIED:
            return Leave(last.evidence.reason)
        case Verdict.FAILED:
            if sum(attempt.evidence.verdict is Verdict.FAILED for attempt in history) < attempts_allowed:
                return Repair()
            return Leave(last.evidence.reason)
        case _ as never:
            assert_never(never)
