from __future__ import annotations

import pytest

from milepost.core.attempt import Attempt, Outcome
from milepost.core.decide import Land, Leave, Next, Repair, decide
from milepost.core.verdict import CheckResult, Evidence, Verdict

PASSED, FAILED, UNVERIFIED = Verdict.PASSED, Verdict.FAILED, Verdict.UNVERIFIED


def history(*verdicts: Verdict) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(
            number=number,
            agent="a",
            base="b",
            commit="c",
            outcome=Outcome(status="finished"),
            evidence=Evidence(
                tree="t",
                verdict=verdict,
                checks=(CheckResult(name="c", outcome="failed", summary=f"why {number}"),) if verdict == FAILED else (),
            ),
            duration_ms=0,
        )
        for number, verdict in enumerate(verdicts, 1)
    )


@pytest.mark.parametrize(
    ("verdicts", "allowed", "what"),
    [
        ((PASSED,), 1, Land()),
        ((FAILED,), 2, Repair()),
        ((FAILED, FAILED), 2, Leave("why 2")),
        ((FAILED,), 1, Leave("why 1")),
        ((FAILED, FAILED, PASSED), 3, Land()),
        ((UNVERIFIED,), 3, Leave("no check could say whether this is done")),
        ((FAILED, UNVERIFIED), 3, Leave("no check could say whether this is done")),
        ((PASSED, FAILED), 2, Repair()),  # it passed, and failed on top of what landed meanwhile
    ],
)
def test_what_happens_next_follows_from_the_verdicts(verdicts: tuple[Verdict, ...], allowed: int, what: Next) -> None:
    assert decide(history(*verdicts), attempts_allowed=allowed) == what
