from __future__ import annotations

import pytest

from milepost.core.verdict import CheckOutcome, CheckResult, TestCase, Verdict, judge


def check(outcome: CheckOutcome, *, decisive: bool = False, summary: str = "", failing: int = 0) -> CheckResult:
    cases = tuple(TestCase(id=f"t{number}", outcome="failed") for number in range(failing))
    return CheckResult(name="c", outcome=outcome, summary=summary or outcome, decisive=decisive, cases=cases)


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((), Verdict.UNVERIFIED),
        ((check("absent", decisive=True),), Verdict.UNVERIFIED),
        ((check("passed"), check("passed")), Verdict.UNVERIFIED),
        ((check("passed", decisive=True),), Verdict.PASSED),
        ((check("absent"), check("passed", decisive=True), check("passed")), Verdict.PASSED),
        ((check("passed", decisive=True), check("failed")), Verdict.FAILED),
        ((check("failed"), check("absent", decisive=True)), Verdict.FAILED),
    ],
)
def test_one_failed_check_fails_a_tree_and_passing_takes_a_decisive_one(
    checks: tuple[CheckResult, ...], verdict: Verdict
) -> None:
    assert judge("tree", checks).verdict is verdict


@pytest.mark.parametrize(
    ("checks", "reason"),
    [
        ((), "no check could say whether this is done"),
        ((check("passed", decisive=True, summary="a"), check("passed", decisive=True, summary="b")), "a; b"),
        ((check("passed", decisive=True, summary="a"), check("passed", summary="by the way")), "a"),
        ((check("failed", summary="first"), check("failed", summary="second")), "first"),
        ((check("failed", summary="exit 1"), check("failed", summary="2 tests", failing=2)), "2 tests"),
    ],
)
def test_the_reason_is_the_most_telling_line(checks: tuple[CheckResult, ...], reason: str) -> None:
    assert judge("tree", checks).reason == reason


def test_what_was_enforced_is_what_held_for_every_command() -> None:
    def ran(*enforced: str) -> CheckResult:
        return CheckResult(name="c", outcome="passed", summary="", argv=("true",), enforced=enforced)

    looked = CheckResult(name="files", outcome="passed", summary="")
    assert judge("t", (ran("landlock-6", "rlimits"), looked, ran("rlimits"))).enforced == ("rlimits",)
    assert judge("t", (looked,)).enforced == ()
