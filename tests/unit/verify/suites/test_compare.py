from __future__ import annotations

from collections.abc import Mapping

import pytest

from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify.suites.compare import Comparison, compare, outcomes
from milepost.verify.suites.reruns import Reruns

Outcomes = Mapping[str, TestOutcome]


def compared(before: Outcomes | None, now: Outcomes, *, by: Comparison | None = None) -> CheckResult:
    cases = tuple(TestCase(id=name, outcome=outcome, message="boom") for name, outcome in now.items())
    told = CheckResult(name="tests", outcome="passed" if cases else "absent", summary="", cases=cases)
    return compare(told, before, by)


@pytest.mark.parametrize(
    ("before", "now", "outcome", "decisive"),
    [
        pytest.param({"t::a": "passed"}, {"t::a": "passed"}, "passed", False, id="all as before"),
        pytest.param({"t::a": "passed"}, {"t::a": "failed"}, "failed", False, id="one broke"),
        pytest.param({"t::a": "skipped"}, {"t::a": "failed"}, "failed", False, id="a skipped one fails now"),
        pytest.param({"t::a": "failed"}, {"t::a": "passed"}, "passed", True, id="one was fixed"),
        pytest.param({"t::a": "skipped"}, {"t::a": "passed"}, "passed", True, id="a skipped one passes now"),
        pytest.param({"t::a": "failed"}, {"t::a": "failed"}, "passed", False, id="failed before already"),
        pytest.param({"t::a": "failed"}, {}, "failed", False, id="a failing test was deleted"),
        pytest.param(
            {"t::a": "failed", "t::b": "passed"}, {"t::b": "passed"}, "failed", False, id="the same, others stay"
        ),
        pytest.param({"t::a": "passed"}, {}, "failed", False, id="a passing test was deleted"),
        pytest.param({"t::a": "passed"}, {"t::a": "skipped"}, "failed", False, id="a passing test was skipped"),
        pytest.param({"t::a": "passed"}, {"t::b": "passed"}, "failed", False, id="a passing test was renamed"),
        pytest.param({}, {"t::a": "passed"}, "passed", False, id="a new test is its author's word"),
        pytest.param({}, {"t::a": "failed"}, "failed", False, id="a new test fails"),
        pytest.param(
            {"t": "failed"}, {"t::a": "passed"}, "passed", True, id="a file that could not be imported now can"
        ),
        pytest.param(
            {"t::a": "failed"}, {"t::a": "passed", "t::b": "failed"}, "failed", False, id="fixed one, broke one"
        ),
        pytest.param(None, {"t::a": "passed"}, "passed", False, id="nothing is known of before"),
        pytest.param(None, {"t::a": "failed"}, "failed", False, id="nothing is known of before and one fails"),
    ],
)
def test_tests_are_judged_by_what_they_were_before(
    before: Outcomes | None, now: Outcomes, outcome: str, decisive: bool
) -> None:
    result = compared(before, now)

    assert (result.outcome, result.decisive) == (outcome, decisive)


def test_the_summary_says_what_is_the_matter() -> None:
    assert (
        compared({"t::a": "failed"}, {"t::a": "failed", "t::b": "passed"}).summary
        == "1 passed, 1 failed already before"
    )
    assert compared({}, {"t::a": "failed", "t::b": "failed"}).summary == "t::a: boom; also failed: t::b"
    gone = compared({"t::a": "passed", "t::b": "passed"}, {"t::c": "passed"})
    assert gone.summary == "2 tests that were there before are gone or skipped: t::a, t::b"


def test_each_case_tells_what_it_was_before() -> None:
    result = compared({"t::a": "failed", "t::b": "passed"}, {"t::a": "passed", "t::b": "passed", "t::c": "passed"})

    assert {case.id: case.before for case in result.cases} == {"t::a": "failed", "t::b": "passed", "t::c": None}


def test_what_another_check_answers_for_is_neither_broken_nor_gone() -> None:
    before: Outcomes = {"t::a": "passed", "t::b": "passed", "t::c": "passed"}
    now: Outcomes = {"t::a": "failed", "t::c": "passed"}

    answered = compared(before, now, by=Comparison(answered=frozenset({"t::a", "t::b"})))

    assert (answered.outcome, answered.decisive) == ("passed", False)
    assert answered.summary == "1 passed, 2 only as they were changed"
    assert compared(before, now, by=Comparison(answered=frozenset({"t::a"}))).outcome == "failed"
    assert compared(before, now, by=Comparison(answered=frozenset({"t::b"}))).outcome == "failed"


def test_that_every_test_is_skipped_fails_unless_it_was_so_before() -> None:
    skipped: Outcomes = {"t::a": "skipped", "t::b": "skipped"}

    assert compared(skipped, skipped).outcome == "absent"
    assert compared(None, skipped).outcome == "absent"
    assert compared({}, skipped).summary == "every test is skipped: t::a, t::b"
    assert compared({}, skipped).outcome == "failed"
    assert compared({"t::a": "skipped"}, skipped).outcome == "failed"


def test_a_flaky_test_counts_unless_it_is_excused() -> None:
    before: Outcomes = {"t::a": "passed", "t::b": "passed"}
    now: Outcomes = {"t::a": "failed", "t::b": "passed"}
    reruns = Reruns(ended={"t::a": ("failed", "failed", "passed")})

    counts = compared(before, now, by=Comparison(reruns=reruns))
    excused = compared(before, now, by=Comparison(reruns=reruns, excused=frozenset({"t::a"})))
    new = compared({"t::b": "passed"}, now, by=Comparison(reruns=reruns))

    assert counts.summary == "t::a: boom (failed 2 of 3 times, but not on the base commit)"
    assert new.summary == "t::a: boom (failed 2 of 3 times)"
    assert (counts.outcome, new.outcome, excused.outcome) == ("failed", "failed", "passed")
    assert (excused.summary, excused.decisive) == ("1 passed, 1 flaky, as on the base commit: t::a", False)
    assert outcomes(excused) == {"t::a": "passed", "t::b": "passed"}
