from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.verdict import CheckOutcome, CheckResult, Evidence, TestCase, TestOutcome, Verdict, judge
from milepost.verify.confidence import confidence, coverage_told

OUTCOMES: st.SearchStrategy[TestOutcome] = st.sampled_from(["passed", "failed", "skipped"])
ANSWERS: st.SearchStrategy[CheckOutcome] = st.sampled_from(["passed", "failed", "absent"])
CASES = st.builds(
    TestCase, id=st.integers(0, 30).map(lambda number: f"t{number}"), outcome=OUTCOMES, flaky=st.booleans()
)
CHECKS = st.builds(
    CheckResult,
    name=st.sampled_from(["files", "tests", "verify", "counter-proof"]),
    outcome=ANSWERS,
    summary=st.just(""),
    decisive=st.booleans(),
    cases=st.lists(CASES, max_size=8).map(tuple),
)
EVIDENCE = st.lists(CHECKS, min_size=1, max_size=6).map(lambda checks: judge("2" * 40, tuple(checks)))
SHARES = st.none() | st.floats(0, 1)
ATTEMPTS, LINES = st.integers(1, 30), st.integers(0, 100_000)


def passed(name: str, *cases: TestCase, decisive: bool = True) -> CheckResult:
    return CheckResult(name=name, outcome="passed", summary="", decisive=decisive, cases=cases)


def green(count: int) -> tuple[TestCase, ...]:
    return tuple(TestCase(id=f"t{number}", outcome="passed", before="failed") for number in range(count))


def score(evidence: Evidence, *, attempts: int = 1, lines: int = 40, coverage: float | None = None) -> float:
    return confidence(evidence, attempts=attempts, changed_lines=lines, coverage=coverage)


PERFECT = judge("2" * 40, (passed("files", decisive=False), passed("verify", *green(1)), passed("counter-proof")))


@pytest.mark.parametrize("tests", [1, 3, 14, 500])
def test_a_perfect_run_is_near_one_and_never_one(tests: int) -> None:
    evidence = judge(
        "2" * 40, (passed("files", decisive=False), passed("tests", *green(tests)), passed("counter-proof"))
    )

    assert 0.9 <= score(evidence) < 1
    assert 0.9 <= score(evidence, coverage=1.0) < 1


def test_without_a_test_that_passed_nobody_is_sure() -> None:
    assert score(judge("2" * 40, (passed("files", decisive=False), passed("verify")))) < 0.85
    skipped = tuple(TestCase(id=f"t{number}", outcome="skipped") for number in range(50))
    assert score(judge("2" * 40, (passed("verify", *skipped),))) < 0.85


@given(evidence=EVIDENCE, attempts=ATTEMPTS, lines=LINES, coverage=SHARES, similar=SHARES)
def test_the_verdict_bounds_the_score(
    evidence: Evidence, attempts: int, lines: int, coverage: float | None, similar: float | None
) -> None:
    value = confidence(evidence, attempts=attempts, changed_lines=lines, coverage=coverage, similar=similar)

    assert 0 < value < 1
    assert (value > 0.5) == (evidence.verdict is Verdict.PASSED)


@given(evidence=EVIDENCE, attempts=ATTEMPTS, lines=LINES, coverage=SHARES, data=st.data())
def test_every_check_that_fails_lowers_the_score(
    evidence: Evidence, attempts: int, lines: int, coverage: float | None, data: st.DataObject
) -> None:
    before = score(evidence, attempts=attempts, lines=lines, coverage=coverage)
    more = judge(evidence.tree, (*evidence.checks, CheckResult(name="x", outcome="failed", summary="")))

    assert score(more, attempts=attempts, lines=lines, coverage=coverage) < before
    standing = [place for place, check in enumerate(evidence.checks) if check.outcome != "failed"]
    if standing:
        place = data.draw(st.sampled_from(standing))
        checks = list(evidence.checks)
        checks[place] = replace(checks[place], outcome="failed")
        assert score(judge(evidence.tree, tuple(checks)), attempts=attempts, lines=lines, coverage=coverage) < before


@given(evidence=EVIDENCE, attempts=ATTEMPTS, lines=LINES, further=st.integers(1, 10))
def test_more_attempts_and_a_larger_change_lower_the_score(
    evidence: Evidence, attempts: int, lines: int, further: int
) -> None:
    value = score(evidence, attempts=attempts, lines=lines)

    assert score(evidence, attempts=attempts + further, lines=lines) < value
    assert score(evidence, attempts=attempts, lines=lines + further) < value


@given(evidence=EVIDENCE, place=st.integers(0, 100), data=st.data())
def test_a_test_that_turns_flaky_or_stops_passing_lowers_the_score(
    evidence: Evidence, place: int, data: st.DataObject
) -> None:
    steady = sorted(
        {case.id for check in evidence.checks for case in check.cases}
        - {case.id for check in evidence.checks for case in check.cases if case.flaky or case.outcome != "passed"}
    )
    if not steady:
        return
    name = data.draw(st.sampled_from(steady))

    def changed(case: TestCase, flaky: bool, outcome: TestOutcome) -> TestCase:
        return replace(case, flaky=flaky, outcome=outcome) if case.id == name else case

    def worse(flaky: bool, outcome: TestOutcome) -> Evidence:
        checks = (
            replace(check, cases=tuple(changed(case, flaky, outcome) for case in check.cases))
            for check in evidence.checks
        )
        return replace(evidence, checks=tuple(checks))

    assert score(worse(True, "passed")) < score(evidence)
    assert score(worse(False, "skipped")) < score(evidence)
    assert score(worse(False, "failed")) < score(evidence)


def test_a_test_that_was_flaky_in_one_check_is_flaky_whatever_another_saw() -> None:
    (steady,) = green(1)
    once = judge("2" * 40, (passed("tests", replace(steady, flaky=True)), passed("verify", steady)))
    never = judge("2" * 40, (passed("tests", steady), passed("verify", steady)))

    assert score(once) < score(never)


@given(low=st.floats(0, 1), high=st.floats(0, 1))
def test_more_coverage_and_better_luck_before_never_lower_it(low: float, high: float) -> None:
    low, high = min(low, high), max(low, high)

    assert score(PERFECT, coverage=low) <= score(PERFECT, coverage=high)
    assert confidence(PERFECT, attempts=1, changed_lines=9, similar=low) <= confidence(
        PERFECT, attempts=1, changed_lines=9, similar=high
    )


def test_coverage_is_read_from_the_check_that_tells_it() -> None:
    told = CheckResult(name="coverage", outcome="passed", summary="87 % of 23 changed lines")

    assert coverage_told(judge("2" * 40, (told,))) == pytest.approx(0.87)
    assert coverage_told(PERFECT) is None
