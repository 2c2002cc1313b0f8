"""Confidence in an attempt: one number from evidence, to choose who looks at it; it passes nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import assert_never

from milepost.core.verdict import Evidence, TestCase, TestOutcome, Verdict

_COVERED = re.compile(r"\b(\d{1,3}(?:\.\d+)?) % of \d+ changed lines?")

# How far the score may go by the verdict alone: whatever speaks for a failed attempt, a passed one is above it.
_FAILED_MOST = 0.3
_UNVERIFIED_LEAST, _UNVERIFIED_MOST = 0.3, 0.45
_PASSED_LEAST = 0.5

_WITHOUT_TESTS = 0.6
_COVERAGE_UNKNOWN = 0.95
_HALF_SIZE_LINES = 500
_WORST_LAST: tuple[TestOutcome, ...] = ("passed", "skipped", "failed")


def confidence(
    evidence: Evidence,
    *,
    attempts: int,
    changed_lines: int,
    coverage: float | None = None,
    similar: float | None = None,
    doubts: int = 0,
) -> float:
    """How much the evidence speaks for an attempt, above 0 and below 1.

    `coverage` is the share of the changed lines that the tests ran, `similar` the share of similar
    past attempts that passed; None where that is unknown. `doubts` is how many its own agent was left with: they speak
    against it, and nothing that an agent says speaks for it.
    """
    quality = (
        _by_checks(evidence)
        * _by_tests(evidence)
        * _by_coverage(coverage)
        * (1 / (1 + 0.15 * max(0, attempts - 1)))
        * (1 - 0.3 * max(0, changed_lines) / (max(0, changed_lines) + _HALF_SIZE_LINES))
        * (1.0 if similar is None else 0.8 + 0.2 * _share(similar))
        / (1 + 0.1 * max(0, doubts))
    )
    match evidence.verdict:
        case Verdict.PASSED:
            return _PASSED_LEAST + (1 - _PASSED_LEAST) * quality
        case Verdict.UNVERIFIED | Verdict.HELD:
            return _UNVERIFIED_LEAST + (_UNVERIFIED_MOST - _UNVERIFIED_LEAST) * quality
        case Verdict.FAILED:
            failed = sum(check.outcome == "failed" for check in evidence.checks)
            return _FAILED_MOST * (0.5 + 0.5 * quality) / (1 + failed)
        case _ as never:
            assert_never(never)


def coverage_told(evidence: Evidence) -> float | None:
    """The share of the changed lines that the tests ran, as the check of coverage tells it; None when none does."""
    for check in evidence.checks:
        if check.name.partition(" (")[0] == "coverage" and (found := _COVERED.search(check.summary)):
            return _share(float(found[1]) / 100)
    return None


def _by_checks(evidence: Evidence) -> float:
    """More checks that passed say more; what could not be asked says nothing."""
    passed = sum(check.outcome == "passed" for check in evidence.checks)
    return 0.9 + 0.1 * passed / (passed + 1)


def _by_tests(evidence: Evidence) -> float:
    """Tests that pass speak for it; flaky, skipped and failing ones against it; no test at all is no proof of all."""
    cases = _each_once(evidence)
    passed = sum(case.outcome == "passed" for case in cases)
    failed = sum(case.outcome == "failed" for case in cases)
    skipped = sum(case.outcome == "skipped" for case in cases)
    flaky = sum(case.flaky for case in cases)
    found = _WITHOUT_TESTS if passed == 0 else 0.8 + 0.2 * passed / (passed + 1)
    return found / (1 + 0.25 * flaky) / (1 + 0.05 * failed) / (1 + 0.01 * skipped)


def _each_once(evidence: Evidence) -> tuple[TestCase, ...]:
    """The test cases of all checks; one that two checks ran counts once, by the worst that was seen of it."""
    cases: dict[str, TestCase] = {}
    for check in evidence.checks:
        for case in check.cases:
            known = cases.get(case.id, case)
            worst = max(case, known, key=lambda one: _WORST_LAST.index(one.outcome))
            cases[case.id] = replace(worst, flaky=case.flaky or known.flaky)
    return tuple(cases.values())


def _by_coverage(coverage: float | None) -> float:
    return _COVERAGE_UNKNOWN if coverage is None else 0.7 + 0.3 * _share(coverage)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
