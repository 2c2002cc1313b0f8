"""When another attempt makes sense, and how long to wait before it."""

from __future__ import annotations

import hashlib
from typing import Literal

from milepost.core.failures import Failure, FailureClass

DELAYS_S = (1.0, 2.0, 4.0)
JITTER = 0.1
FIRST_WAIT_S, LONGEST_BACKOFF_S = 30.0, 900.0
BELIEVED_ROUNDS = 3  # that a service states times and is still at its limit then

Remedy = Literal["again", "wait", "park", "never"]

_DENIED = ("401", "402", "403")
_MISUSED = ("400", "404", "405", "422")


def remedy(failure: Failure) -> Remedy:
    """What helps against a failure: another attempt, one after a wait, one after the service's own limit, or none.

    `never` is for what no attempt can change: a key that is refused, a budget that is used up, a
    request or an agent that a person set up wrongly.
    """
    match failure.kind:
        case FailureClass.API_ERROR:
            return _remedy_for_status(failure.subject)
        case FailureClass.TOOL_FAILURE:
            return "never" if failure.check == "agent" and failure.subject else "wait"
        case FailureClass.TIMEOUT:
            return "wait" if failure.check == "agent" else "again"
        case _:
            return "again"


def counts(failure: Failure) -> bool:
    """Whether the attempt is one of those that a task is allowed: a limited service, a merge and a machine at fault
    burn none.
    """
    return remedy(failure) != "park" and failure.check != "merge" and not failure.machine


def wait_for_service_s(stated_s: float | None, rounds: int) -> float:
    """How long a service is left alone after `rounds` waits: as long as it states, else twice as long each time."""
    unbelieved = rounds if stated_s is None else rounds - BELIEVED_ROUNDS
    backoff_s = min(FIRST_WAIT_S * 2.0 ** min(max(unbelieved, 0), 10), LONGEST_BACKOFF_S)
    if stated_s is None:
        return backoff_s
    return stated_s if unbelieved < 0 else max(stated_s, backoff_s)


def delay_s(number: int, *, run: str, task: str) -> float:
    """How long to wait after attempt `number` (from 1): 1, 2, then 4 s, ± 10 % that are the same when asked again."""
    plain = DELAYS_S[min(max(number, 1), len(DELAYS_S)) - 1]
    digest = hashlib.sha256(f"{run}/{task}/{number}".encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    return plain * (1 - JITTER + 2 * JITTER * share)


def _remedy_for_status(status: str) -> Remedy:
    if status in _DENIED or status in _MISUSED:
        return "never"
    return "park" if status == "429" else "wait"
