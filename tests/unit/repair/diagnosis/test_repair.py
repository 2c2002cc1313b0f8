from __future__ import annotations

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.repair.diagnosis.evidence import LONGEST, LONGEST_ADVICE, LONGEST_DIFFS, what_failed

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
        "attempt 2 counts as: test failure",
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
        "attempt 2 counts as: timeout",
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


def test_the_advice_is_told_before_the_details_and_what_was_refused_after_them() -> None:
    history = (attempt(1, failed("verify", "exit 1")), attempt(2, failed("verify", "exit 2", log="the log")))
    diffs = ("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+one\n", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+two\n")

    assert what_failed(history, diffs=diffs, advice="Look at the parser.") == (
        "attempt 1: verify failed: exit 1",
        "Look at the parser.",
        "attempt 2: verify failed: exit 2",
        "attempt 2 counts as: test failure",
        "  the end of what verify wrote:",
        "  | the log",
        "what attempt 1 changed, which was rejected; the same change will fail again:",
        "  | +++ b/x.py",
        "  | -old",
        "  | +one",
        "what attempt 2 changed, which was rejected; the same change will fail again:",
        "  | +++ b/x.py",
        "  | -old",
        "  | +two",
    )


def test_long_diffs_and_advice_take_no_more_than_their_share() -> None:
    log = "\n".join(f"line {number}" for number in range(5_000))
    noise = tuple(TestCase(id=f"t::{number}", outcome="failed", message="ä" * 150) for number in range(20))
    history = tuple(attempt(number, failed("make", "exit 2", *noise, log=log)) for number in range(1, 9))
    diffs = tuple(f"+++ b/{number}.py\n" + "+ä\n" * 9_000 for number in range(1, 9))

    lines = what_failed(history, diffs=diffs, advice="mind this\n" * 9_000)
    refused = lines[lines.index("what attempt 8 changed, which was rejected; the same change will fail again:") :]

    assert len("\n".join(lines).encode()) <= LONGEST
    assert len("\n".join(refused).encode()) <= LONGEST_DIFFS
    assert len("\n".join(line for line in lines if line == "mind this").encode()) <= LONGEST_ADVICE
    assert any(line.startswith("  t::9: ") for line in lines)
    assert refused[-1] == "  | and 8971 more lines"
