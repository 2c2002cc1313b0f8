"""The breaker of a primary, as a table of what happens to it and what it lets through."""

from __future__ import annotations

import pytest

from milepost.memory.sync.breaker import FAILURES, LONGEST_PAUSE_S, OPEN_S, Breaker, BreakerState, pause_s

# What happens, at which second: `ask` with whether it may, `fail`, `ok`; then the state.
Happening = tuple[str, float]


@pytest.mark.parametrize(
    ("happenings", "state"),
    [
        ([], "closed"),
        ([("may", 0)], "closed"),
        ([("fail", 0)] * 4, "closed"),
        ([("fail", 0)] * 4 + [("ok", 1)] + [("fail", 2)] * 4, "closed"),
        ([("fail", 0)] * 5, "open"),
        ([("fail", 0)] * 5 + [("may not", 0), ("may not", 29.9)], "open"),
        ([("fail", 0)] * 5 + [("may", 30)], "half-open"),
        ([("fail", 0)] * 5 + [("may", 30), ("may not", 30), ("may not", 45)], "half-open"),
        ([("fail", 0)] * 5 + [("may", 30), ("ok", 31), ("may", 31)], "closed"),
        ([("fail", 0)] * 5 + [("may", 30), ("ok", 31)] + [("fail", 32)] * 4, "closed"),
        ([("fail", 0)] * 5 + [("may", 30), ("fail", 33), ("may not", 62.9)], "open"),
        ([("fail", 0)] * 5 + [("may", 30), ("fail", 33), ("may", 63)], "half-open"),
        # A try whose end nobody told does not close the way for ever.
        ([("fail", 0)] * 5 + [("may", 30), ("may not", 59), ("may", 60), ("may not", 60)], "half-open"),
    ],
)
def test_a_breaker_opens_after_five_failures_and_one_try_decides(
    happenings: list[Happening], state: BreakerState
) -> None:
    assert (FAILURES, OPEN_S) == (5, 30.0)
    breaker = Breaker()
    for what, now in happenings:
        if what == "fail":
            breaker = breaker.failed(now)
        elif what == "ok":
            breaker = breaker.succeeded()
        else:
            breaker, may = breaker.asked(now)
            assert may is (what == "may"), (what, now)
    assert breaker.state == state


def test_pauses_double_up_to_a_bound_and_differ_by_luck() -> None:
    assert pause_s(0, 1.0) == 0
    assert [pause_s(failures, 1.0) for failures in (1, 2, 3, 4)] == [0.2, 0.4, 0.8, 1.6]
    assert pause_s(1, 0.0) == 0.1
    assert pause_s(10**6, 1.0) == LONGEST_PAUSE_S
