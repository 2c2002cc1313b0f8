from __future__ import annotations

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.repair.evidence import LONGEST, what_failed

FILES = CheckResult(name="files", outcome="passed", summary="1 file changed: a.py")


def attempt(number: int, *checks: CheckResult, status: OutcomeStatus = "finished", said: str = "") -> Attempt:
    return Attempt(
        number=number,
        agent="command:x",
        base="0" * 40,
        commit="1" * 40,
        outcome=Outcome(status=status, said=said),
        evidence=judge("2" * 40, (FILES, *checks)),
        duration_ms=1,
    )


def failed(name: str, summary: str, *cases: TestCase, log: str = "") -> CheckResult:
    return CheckResult(name=name, outcome="failed", summary=summary, cases=cases, log=log)


def test_without_history_there_is_nothing_to_tell() -> None:
    assert what_failed(()) == ()


def test_earlier_attempts_get_a_headline_and_the_latest_its_tests_and_log() -> None:
    first = attempt(
        1, failed("tests", "t::a: boom", TestCase(id="t::a", outcome="failed", message="boom"), log="old log")
    )
    cases = (TestCase(id="t::b", outcome="failed", message="5400 != 90"), TestCase(id="t::c", outcome="passed"))
    second = attempt(
        2, failed("make check", "exit 2"), failed("tests", "t::b: 5400 != 90", *cases, log="line 1\nline 2")
    )

    assert what_failed((first, second)) == (
        "attempt 1: tests failed: t::a: boom",
        "attempt 2: make check failed: exit 2",
        "attempt 2: tests failed: t::b: 5400 != 90",
        "  t::b: 5400 != 90",
        "  the end of what tests wrote:",
        "  | line 1",
        "  | line 2",
    )


def test_an_agent_that_stopped_by_itself_is_quoted() -> None:
    gave_up = attempt(1, failed("files", "the attempt changed nothing"), status="gave_up", said="thinking…\nno key\n\n")
    timed_out = attempt(2, status="timed_out")

    assert what_failed((gave_up, timed_out)) == (
        "attempt 1: files failed: the attempt changed nothing",
        "attempt 1 gave up: no key",
        "attempt 2 ran out of time",
    )


def test_all_of_it_stays_within_bounds_and_keeps_the_headlines() -> None:
    noise = "ä" * 500
    cases = tuple(TestCase(id=f"t::{number}", outcome="failed", message=noise) for number in range(100))
    check = failed("tests", noise, *cases, log="\n".join([noise] * 1000))
    history = tuple(attempt(number, check) for number in range(1, 20))

    lines = what_failed(history)

    assert LONGEST // 2 < len("\n".join(lines).encode()) <= LONGEST
    assert any(line.startswith("attempt 18: ") for line in lines)
    assert any(line.startswith("attempt 19: ") for line in lines)


def test_the_end_of_a_long_log_is_what_is_kept() -> None:
    log = "\n".join(f"line {number}" for number in range(10_000))

    lines = what_failed((attempt(1, failed("make", "exit 2", log=log)),))

    assert lines[-1] == "  | line 9999"
    assert "  | line 0" not in lines
