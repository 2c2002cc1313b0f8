from __future__ import annotations

import pytest

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.calls import Usage
from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.repair.diagnosis.progress import failing, further, shrinking
from milepost.repair.strategy.breakers import BreakerLimits, diff_hash, tripped

MANY = BreakerLimits(attempts=20)


def attempt(
    number: int, *checks: CheckResult, status: OutcomeStatus = "finished", said: str = "", cost: float = 0.0
) -> Attempt:
    return Attempt(
        number=number,
        agent="command:x",
        base="0" * 40,
        commit="1" * 40,
        outcome=Outcome(status=status, said=said, usage=Usage(cost_usd=cost)),
        evidence=judge("2" * 40, checks),
        duration_ms=1,
    )


def red(number: int, *failures: str, passed: int = 0, kind: str = "AssertionError") -> Attempt:
    cases = [TestCase(id=name, outcome="failed", message=f"{kind}: {name} in attempt {number}") for name in failures]
    cases += [TestCase(id=f"ok{place}", outcome="passed") for place in range(passed)]
    check = CheckResult(name="tests", outcome="failed", summary=f"{len(failures)} failed", cases=tuple(cases))
    return attempt(number, check)


def failed(number: int, name: str, summary: str) -> Attempt:
    return attempt(number, CheckResult(name=name, outcome="failed", summary=summary))


def limited(number: int) -> Attempt:
    return attempt(number, CheckResult(name="agent", outcome="failed", summary="limited"), status="limited")


def breaker(history: tuple[Attempt, ...], diffs: tuple[str, ...] = (), limits: BreakerLimits = MANY) -> str:
    diagnosis = tripped(history, diffs, limits)
    return diagnosis.breaker if diagnosis else ""


def test_a_first_failure_stops_nothing() -> None:
    assert tripped((red(1, "a"),), ("+x",)) is None


def test_the_same_error_three_times_stops_a_task_and_says_which_error() -> None:
    history = (
        failed(1, "verify", "`make` exit 2: KeyError: 'a' at /w/a.py:3"),
        red(2, "a"),
        failed(3, "verify", "`make` exit 2: KeyError: 'a' at /w/b.py:9"),
        failed(4, "verify", "`make` exit 2: KeyError: 'b' at /w/c.py:12"),
    )
    limits = BreakerLimits(attempts=9, no_progress=9)
    diagnosis = tripped(history, limits=limits)

    assert diagnosis is not None
    assert diagnosis.breaker == "same_error"
    assert diagnosis.attempts == (1, 3, 4)
    assert "3 times" in diagnosis.what and "KeyError" in diagnosis.what
    assert breaker(history[:3], limits=limits) == ""


@pytest.mark.parametrize(
    ("name", "summary", "status", "looked_at"),
    [
        ("agent", "the agent gave up: exit 3: cannot connect to my model", "gave_up", "the agent that fails"),
        ("files", "the attempt changed nothing", "finished", "leaves every file as it is"),
        ("verify", "`make` exit 2: KeyError: 'a'", "finished", "do not reach its cause"),
    ],
)
def test_an_agent_that_never_gets_to_the_work_is_named_as_the_cause(
    name: str, summary: str, status: OutcomeStatus, looked_at: str
) -> None:
    check = CheckResult(name=name, outcome="failed", summary=summary)
    diagnosis = tripped(tuple(attempt(number, check, status=status) for number in (1, 2, 3)))

    assert diagnosis is not None and diagnosis.breaker == "same_error"
    assert looked_at in diagnosis.advice


def test_three_different_missing_modules_are_three_errors() -> None:
    history = tuple(failed(n, "imports", f"a: No module named '{name}'") for n, name in ((1, "x"), (2, "y"), (3, "z")))

    assert breaker(history, limits=BreakerLimits(attempts=9, no_progress=9)) == ""


def test_a_change_that_comes_back_within_four_attempts_is_an_oscillation() -> None:
    history = (red(1, "a", "b", "c"), red(2, "a", "b"), red(3, "c"))

    assert breaker(history, ("+one", "+two", "+one")) == "oscillation"
    assert breaker(history, ("+one", "+two", "+three")) == ""
    assert breaker(history, ("", "", "")) == ""


def test_a_change_that_comes_back_later_is_no_oscillation() -> None:
    history = tuple(red(number, *"abcdef"[: 7 - number]) for number in range(1, 6))

    assert breaker(history, ("+one", "+two", "+three", "+four", "+one")) == ""
    assert breaker(history, ("+zero", "+one", "+three", "+four", "+one")) == "oscillation"


def test_the_same_change_after_a_failure_of_the_machine_is_no_oscillation() -> None:
    history = (failed(1, "tests", "the tests did not run to their end: was ended by SIGSEGV"), red(2, "a"))

    assert breaker(history, ("+same", "+same")) == ""


def test_a_diff_is_the_same_wherever_it_applies() -> None:
    one = "diff --git a/x b/x\nindex 123abc..456def 100644\n@@ -1,2 +1,2 @@ def f\n-a\n+b\n"
    other = "diff --git a/x b/x\nindex 999abc..888def 100644\n@@ -7,2 +9,2 @@ def g\n-a\n+b\n"

    assert diff_hash(one) == diff_hash(other) != diff_hash(one.replace("+b", "+c"))
    assert diff_hash(" \n") == ""


def test_three_attempts_that_leave_as_many_failures_make_no_progress() -> None:
    moles = (red(1, "a", kind="KeyError"), red(2, "b", kind="TypeError"), red(3, "c", kind="OSError"))
    shrinks = (red(1, "a", "b", kind="KeyError"), red(2, "b", kind="TypeError"), red(3, "c", kind="OSError"))

    assert breaker(moles) == "no_progress"
    assert breaker(shrinks) == ""


def test_a_check_without_failed_tests_is_named_alone_and_a_verify_line_by_its_command() -> None:
    tests = CheckResult(name="tests", outcome="failed", summary="crashed", argv=("/usr/bin/python3", "driver.py"))
    line = CheckResult(name="verify", outcome="failed", summary="exit 1", argv=("make", "check"))

    assert failing(attempt(1, tests, line)) == {"tests", "verify make check"}


def test_coming_to_a_later_check_is_progress_even_with_more_failures() -> None:
    history = (failed(1, "syntax", "a.py:1: bad"), failed(2, "imports", "cannot import"), red(3, *"abcdef"))

    assert breaker(history) == ""
    assert further(history[0], history[2])


def test_a_task_may_cost_so_much_and_no_more() -> None:
    history = (attempt(1, CheckResult(name="verify", outcome="failed", summary="exit 1"), cost=0.6),) * 2
    limits = BreakerLimits(attempts=9, cost_usd=1.2)

    assert breaker(history, limits=limits) == "cost"
    assert breaker(history[:1], limits=limits) == ""


def test_attempts_are_counted_without_those_that_were_not_the_agents_doing() -> None:
    merge = failed(2, "merge", "other tasks changed the same lines of a.py meanwhile: again")
    history = (red(1, "a", "b", "c"), merge, limited(3), red(4, "a", "b"))
    limits = BreakerLimits(attempts=3)

    assert breaker(history, limits=limits) == ""
    assert breaker((*history, red(5, "a")), limits=limits) == "attempts"


def test_words_that_are_only_taken_for_a_limit_are_not_believed_without_end() -> None:
    check = CheckResult(name="agent", outcome="failed", summary="HTTP 429")
    guessed = tuple(attempt(number, check, status="gave_up", said="HTTP 429") for number in range(1, 11))

    assert breaker(guessed[:9]) == ""
    assert breaker(guessed) == "limited"


def test_a_limit_that_the_agents_service_states_never_ends_a_task() -> None:
    assert breaker(tuple(limited(number) for number in range(1, 30))) == ""


def test_a_passed_attempt_stops_nothing_whatever_was_before() -> None:
    passed = attempt(4, CheckResult(name="verify", outcome="passed", summary="ok", decisive=True))

    assert tripped((*(failed(number, "verify", "exit 1") for number in (1, 2, 3)), passed)) is None


def test_old_failures_are_not_among_what_is_left_to_mend() -> None:
    cases = (
        TestCase(id="old", outcome="failed", before="failed"),
        TestCase(id="new", outcome="failed", before="passed"),
        TestCase(id="fixed", outcome="passed", before="failed"),
    )
    seen = attempt(1, CheckResult(name="tests", outcome="failed", summary="x", cases=cases))
    better = attempt(1, CheckResult(name="verify", outcome="failed", summary="x", cases=(cases[2],)))

    assert failing(seen) == {"new"}
    assert not shrinking((seen,))
    assert shrinking((better,))
