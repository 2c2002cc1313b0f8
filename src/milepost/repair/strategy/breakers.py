"""The breakers: when a task is stopped, though attempts are left, and what a person should know then."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.core.attempt import Attempt
from milepost.core.failures import CHANGED_NOTHING, Failure, FailureClass
from milepost.repair.diagnosis.classify import classify
from milepost.repair.diagnosis.progress import failing, further
from milepost.repair.strategy.retry_policy import counts, remedy

Breaker = Literal["same_error", "oscillation", "no_progress", "cost", "attempts", "limited"]

_PLACE_IN_DIFF = re.compile(r"^(?:index [0-9a-f]+\.\.[0-9a-f]+.*|@@ [^@]*@@.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLimits:
    """How much is enough. `oscillation` is the number of attempts among which a diff may not come back."""

    attempts: int = 3
    same_error: int = 3
    oscillation: int = 4
    no_progress: int = 3
    cost_usd: float | None = None
    limited: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Why a task is stopped: which breaker, what was seen, what to look at, and in which attempts."""

    breaker: Breaker
    what: str
    advice: str
    attempts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """A failed attempt, what it failed of, and the hash of what it changed."""

    attempt: Attempt
    failure: Failure
    diff: str


def tripped(
    history: tuple[Attempt, ...], diffs: tuple[str, ...] = (), limits: BreakerLimits | None = None
) -> Diagnosis | None:
    """The diagnosis that stops a task, or None while another attempt is worth it.

    `diffs` are those of the attempts in turn, each against the task's base; empty where there is none.
    The breaker that tells a person most is asked first.
    """
    bounds = limits or BreakerLimits()
    given = (*diffs, *[""] * (len(history) - len(diffs)))
    tries = [
        _Failed(attempt=attempt, failure=failure, diff=diff_hash(diff))
        for attempt, diff in zip(history, given, strict=False)
        if (failure := classify(attempt)) is not None
    ]
    if not tries or tries[-1].attempt is not history[-1]:
        return None
    counted = [one for one in tries if counts(one.failure)]
    return (
        _same_error(counted, bounds)
        or _oscillation(counted, bounds)
        or _no_progress(counted, bounds)
        or _cost(history, bounds)
        or _attempts(counted, bounds)
        or _limited(tries, bounds)
    )


def diff_hash(diff: str) -> str:
    """The hash of what a diff changes, wherever in the file; empty for an empty diff."""
    plain = _PLACE_IN_DIFF.sub("", diff).strip()
    return hashlib.sha256(plain.encode("utf-8", "backslashreplace")).hexdigest()[:16] if plain else ""


def _same_error(tries: Sequence[_Failed], limits: BreakerLimits) -> Diagnosis | None:
    if not tries:
        return None
    last = tries[-1].failure
    alike = [one for one in tries if _key(one.failure) == _key(last)]
    if len(alike) < limits.same_error:
        return None
    about = f" ({last.subject})" if last.subject and last.subject not in last.summary else ""
    return Diagnosis(
        breaker="same_error",
        what=f"the same error {len(alike)} times: {last.summary}{about}",
        advice=_advice_for_same(last),
        attempts=_numbers(alike),
    )


def _advice_for_same(failure: Failure) -> str:
    """Where to look for the cause of an error that comes again: in the agent where it never got to the work."""
    if failure.check == "agent":
        return "it is the agent that fails, not the work: mend what it says, or give the task to another agent"
    if failure.summary == CHANGED_NOTHING:
        return "the agent leaves every file as it is: read what it said, or give the task to another agent"
    return "the attempts do not reach its cause: say in the task where it comes from, or fix it by hand"


def _oscillation(tries: Sequence[_Failed], limits: BreakerLimits) -> Diagnosis | None:
    """The same change again is no news, unless it failed for a reason that only waiting can mend."""
    if not tries or not tries[-1].diff:
        return None
    window = [one for one in tries[-limits.oscillation :] if remedy(one.failure) == "again"]
    same = [one for one in window if one.diff == tries[-1].diff]
    if len(same) < 2 or same[-1] is not tries[-1]:
        return None
    numbers = _numbers(same)
    return Diagnosis(
        breaker="oscillation",
        what=f"attempts {_listed(numbers)} made the same change, which was refused each time",
        advice="the agent goes in circles: tell it in the task what to do differently, or give it to another agent",
        attempts=numbers,
    )


def _no_progress(tries: Sequence[_Failed], limits: BreakerLimits) -> Diagnosis | None:
    window = tries[-limits.no_progress :]
    if len(window) < limits.no_progress:
        return None
    first, *later = (one.attempt for one in window)
    if any(further(first, attempt) for attempt in later):
        return None
    left = sorted(failing(window[-1].attempt))
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    return Diagnosis(
        breaker="no_progress",
        what=f"no fewer failures after {len(window)} attempts: still {', '.join(left[:3])}{more}",
        advice="the task may be too large or lack information: split it, or add what the agent cannot know",
        attempts=_numbers(window),
    )


def _cost(history: Sequence[Attempt], limits: BreakerLimits) -> Diagnosis | None:
    spent = sum(attempt.outcome.cost_usd for attempt in history)
    if limits.cost_usd is None or spent < limits.cost_usd:
        return None
    return Diagnosis(
        breaker="cost",
        what=f"${spent:.2f} spent on this task, ${limits.cost_usd:.2f} allowed per task",
        advice="allow more for it, or make it smaller",
        attempts=tuple(attempt.number for attempt in history),
    )


def _attempts(tries: Sequence[_Failed], limits: BreakerLimits) -> Diagnosis | None:
    if len(tries) < limits.attempts:
        return None
    last = tries[-1].failure
    times = "1 attempt" if len(tries) == 1 else f"{len(tries)} attempts"
    return Diagnosis(
        breaker="attempts",
        what=f"not done after {times}; the last one: {last.summary}",
        advice="look at what each attempt left, then fix the task or allow more attempts",
        attempts=_numbers(tries),
    )


def _limited(tries: Sequence[_Failed], limits: BreakerLimits) -> Diagnosis | None:
    """An agent whose words are only taken for a limit would otherwise be waited for without end."""
    guessed = (one for one in tries if one.attempt.outcome.status != "limited")
    limited = [one for one in guessed if remedy(one.failure) == "park"]
    if len(limited) < limits.limited:
        return None
    return Diagnosis(
        breaker="limited",
        what=f"the agent's service was at its limit {len(limited)} times",
        advice="wait until the limit is lifted, or give the task to another agent",
        attempts=_numbers(limited),
    )


def _key(failure: Failure) -> tuple[FailureClass, str, str]:
    return failure.kind, failure.signature, failure.subject


def _numbers(tries: Sequence[_Failed]) -> tuple[int, ...]:
    return tuple(one.attempt.number for one in tries)


def _listed(numbers: Sequence[int]) -> str:
    names = [str(number) for number in numbers]
    return f"{', '.join(names[:-1])} and {names[-1]}"
