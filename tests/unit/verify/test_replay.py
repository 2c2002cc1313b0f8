"""Evidence found again: the same, or in words what is not."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.verdict import CheckResult, Evidence, TestCase, judge
from milepost.verify.compare_evidence import compared

TESTS = CheckResult(
    name="tests",
    outcome="passed",
    summary="",
    argv=("pytest",),
    exit_code=0,
    cases=(TestCase(id="a", outcome="passed", duration_ms=3), TestCase(id="b", outcome="skipped")),
    decisive=True,
)
VERIFY = CheckResult(name="verify", outcome="passed", summary="", argv=("true",), exit_code=0, decisive=True)


def evidence(*checks: CheckResult) -> Evidence:
    return judge("tree", checks)


def differences(then: Evidence, now: Evidence) -> list[tuple[str, str]]:
    return [(one.name, one.difference) for one in compared(then, now) if not one.same]


def test_the_same_answers_are_the_same_whatever_time_they_took() -> None:
    slower = replace(TESTS, duration_ms=99, cases=tuple(replace(case, duration_ms=9) for case in TESTS.cases), log="x")
    assert differences(evidence(TESTS, VERIFY), evidence(slower, VERIFY)) == []
    assert len(compared(evidence(TESTS, VERIFY), evidence(slower, VERIFY))) == 2


def test_a_test_that_ends_otherwise_is_named() -> None:
    now = replace(TESTS, cases=(TestCase(id="a", outcome="passed"), TestCase(id="c", outcome="passed")))
    ((name, said),) = differences(evidence(TESTS), evidence(now))
    assert (name, said) == ("tests", "b skipped then, missing now (and 1 more)")


def test_another_outcome_says_why_it_is_so_now() -> None:
    now = replace(TESTS, outcome="failed", exit_code=1, summary="a: boom")
    assert differences(evidence(TESTS), evidence(now)) == [("tests", "passed then, failed now: a: boom")]


def test_a_command_that_did_not_end_is_said_so() -> None:
    now = replace(VERIFY, exit_code=None)
    assert differences(evidence(VERIFY), evidence(now)) == [("verify", "exit 0 then, did not end by itself now")]


def test_checks_of_one_name_are_compared_in_their_order_and_none_is_forgotten() -> None:
    other = replace(VERIFY, argv=("false",), exit_code=1, outcome="failed", summary="exit 1")
    assert differences(evidence(VERIFY, VERIFY), evidence(VERIFY, other)) == [
        ("verify", "passed then, failed now: exit 1")
    ]
    assert differences(evidence(VERIFY), evidence(VERIFY, TESTS)) == [("tests", "did not run then")]
    assert differences(evidence(VERIFY, TESTS), evidence(VERIFY)) == [("tests", "did not run now")]
