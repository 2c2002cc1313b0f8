from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.failures import Failure, FailureClass
from milepost.repair.diagnosis.service_errors import service_status, stated_wait_s
from milepost.repair.strategy.retry_policy import Remedy, counts, delay_s, remedy


def failure(kind: FailureClass, subject: str = "", check: str = "agent") -> Failure:
    return Failure(kind=kind, severity="medium", signature="x", summary="x", subject=subject, check=check)


@pytest.mark.parametrize(
    ("kind", "subject", "check", "expected"),
    [
        (FailureClass.API_ERROR, "401", "agent", "never"),
        (FailureClass.API_ERROR, "402", "agent", "never"),
        (FailureClass.API_ERROR, "403", "agent", "never"),
        (FailureClass.API_ERROR, "404", "agent", "never"),
        (FailureClass.API_ERROR, "429", "agent", "park"),
        (FailureClass.API_ERROR, "503", "agent", "wait"),
        (FailureClass.API_ERROR, "network", "agent", "wait"),
        (FailureClass.TOOL_FAILURE, "claude", "agent", "never"),
        (FailureClass.TOOL_FAILURE, "dur", "verify", "wait"),
        (FailureClass.TOOL_FAILURE, "", "tests", "wait"),
        (FailureClass.TIMEOUT, "", "agent", "wait"),
        (FailureClass.TEST_FAILURE, "t", "tests", "again"),
        (FailureClass.WRONG_APPROACH, "", "changed tests", "again"),
    ],
)
def test_what_helps_against_a_failure(kind: FailureClass, subject: str, check: str, expected: Remedy) -> None:
    assert remedy(failure(kind, subject, check)) == expected


def test_a_limited_service_and_a_merge_burn_no_attempt() -> None:
    assert not counts(failure(FailureClass.API_ERROR, "429"))
    assert not counts(failure(FailureClass.FILE_CONFLICT, "a.py", "merge"))
    assert counts(failure(FailureClass.API_ERROR, "503"))


@given(number=st.integers(1, 50), run=st.text(), task=st.text())
def test_delays_double_to_four_seconds_within_a_tenth_and_are_the_same_when_asked_again(
    number: int, run: str, task: str
) -> None:
    plain = {1: 1.0, 2: 2.0}.get(number, 4.0)
    waited = delay_s(number, run=run, task=task)

    assert plain * 0.9 <= waited <= plain * 1.1
    assert waited == delay_s(number, run=run, task=task)


def test_tasks_that_fail_together_do_not_wait_equally_long() -> None:
    assert len({delay_s(1, run="7f3a", task=f"1.{number}") for number in range(20)}) == 20


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Retry-After: 120", 120),
        ("Please try again in 1.5s.", 1.5),
        ("try again in 1m30s", 90),
        ("rate limited, retry after 2 minutes", 120),
        ("resets in 3h", 10_800),
        ("wait 250ms", 0.25),
        ("usage limit reached|1700000600", 600),
        ("limit resets at 2023-11-14T22:23:20+00:00", 600),
        ("limit resets at 2023-11-14T22:03:20Z", 0),
        ("retry after 900000 hours", 604_800),
        ("wait 5 s\nlimit reached: try again in 3600 s", 3600),
        ("rate limit exceeded", None),
        ("I waited 5 minutes", None),
    ],
)
def test_the_wait_that_a_service_states_is_read(said: str, seconds: float | None) -> None:
    assert stated_wait_s(f"working\n{said}\n", now=1_700_000_000) == seconds


@given(said=st.text())
def test_whatever_an_agent_says_the_wait_is_bounded(said: str) -> None:
    for text in (said, f"retry after {said}", f"resets {said}"):
        service_status(text)
        assert (stated_wait_s(text, now=0.0) or 0.0) <= 604_800
