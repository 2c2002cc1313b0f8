"""Two runs of the same tests on one tree, and an environment that could not be got."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult
from milepost.core.verdict import CheckResult, TestCase
from milepost.verify.checks.agreement import AgreementCheck
from milepost.verify.checks.environment import EnvironmentCheck
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Equipment

HERE = Workspace(folder=Path(), scratch=Path(), base="")
FAILED = TestCase(id="t::a", outcome="failed")
PASSED = TestCase(id="t::a", outcome="passed")


class NoTerminal:
    def run(self, command: Command, on_line: object = None) -> CommandResult:
        raise AssertionError


def answered(own: TestCase, claimed: TestCase) -> str:
    tests = CheckResult(name="tests", outcome="passed", summary="", cases=(own,))
    verify = CheckResult(name="verify", outcome="passed", summary="", cases=(claimed,))
    return AgreementCheck(bench=Bench(terminal=NoTerminal())).run_after(HERE, (tests, verify)).outcome


def test_a_test_that_passes_only_for_the_verify_line_proves_nothing() -> None:
    assert answered(FAILED, PASSED) == "failed"
    assert answered(PASSED, PASSED) == "passed"


def test_a_flaky_test_contradicts_nobody_and_other_tests_are_not_compared() -> None:
    assert answered(replace(FAILED, flaky=True), PASSED) == "passed"
    assert answered(FAILED, replace(PASSED, id="t::b")) == "absent"
    assert answered(PASSED, FAILED) == "absent", "a failed Verify line says so itself"


@pytest.mark.parametrize(
    ("before", "outcome"),
    [
        (("old", ""), "failed"),
        (("new", ""), "absent"),
        (("old", "no network"), "absent"),
        (None, "absent"),
    ],
)
def test_what_cannot_be_got_fails_only_who_asked_for_it(before: tuple[str, str] | None, outcome: str) -> None:
    bench = Bench(terminal=NoTerminal(), equipment=Equipment(lock="new", problem="pip said\nno such package"))
    result = EnvironmentCheck(bench=bench, before=before).run(HERE)
    assert (result.outcome, "no such package" in result.summary) == (outcome, True)


def test_an_environment_says_where_it_comes_from() -> None:
    bench = Bench(terminal=NoTerminal(), equipment=Equipment(origin=("your own .venv",)))
    assert EnvironmentCheck(bench=bench).run(HERE).summary == "your own .venv"
