from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckOutcome, CheckResult, TestCase, TestOutcome
from milepost.verify.checks.line_on_trees import LineOnTrees
from milepost.verify.judging.split import Split
from milepost.verify.suites.candidate_runs import CandidateRuns

HERE = Workspace(folder=Path("/nowhere"), scratch=Path("/nowhere"), base="0" * 40)
ID = "tests/test_a.py::test_a"


class Says:
    def __init__(self, result: CheckResult) -> None:
        self._result = result

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        return self._result


def case(outcome: TestOutcome, before: TestOutcome | None, name: str = ID) -> TestCase:
    return TestCase(id=name, outcome=outcome, before=before)


def line(outcome: CheckOutcome, *cases: TestCase, before: CheckOutcome = "failed") -> CheckResult:
    return CheckResult(
        name="verify", outcome=outcome, summary=outcome, cases=cases, before=before, decisive=outcome == "passed"
    )


def answered(split: Split, bench: CheckResult, left: CheckResult, *, differ: bool = True) -> CheckResult:
    tree = SimpleNamespace(workspace=HERE)
    trees = SimpleNamespace(split=split, differ=differ, bench=tree, as_it_is=tree)
    runs: Any = SimpleNamespace(trees=trees, now={})
    check = LineOnTrees(on_bench=Says(bench), as_left=Says(left), runs=cast(CandidateRuns, runs))
    return check.run_after(HERE, ())


REWRITTEN = Split(judged=("a.py",), restored=("tests/test_a.py",), tests=("tests/test_a.py",))
BROUGHT = Split(judged=("a.py",), left_out=("tests/test_a.py",), tests=("tests/test_a.py",))
JUDGE = Split(judged=("a.py",), restored=("check.sh",))
NEW = line("passed", case("passed", None))
DATA = Split(judged=("a.py",), uncertain=("data.bin",))


@pytest.mark.parametrize(
    ("split", "bench", "left", "outcome", "decisive"),
    [
        pytest.param(REWRITTEN, line("passed", case("passed", "failed", "t.py::b")), line("passed"), "passed", True),
        pytest.param(REWRITTEN, line("failed", case("failed", "failed")), NEW, "failed", False),
        pytest.param(REWRITTEN, line("failed", case("failed", "passed")), NEW, "passed", False),
        pytest.param(BROUGHT, line("failed"), NEW, "passed", False),
        pytest.param(JUDGE, line("failed"), line("passed"), "failed", False),
        pytest.param(JUDGE, line("failed", before="passed"), line("passed"), "held", False),
        pytest.param(DATA, line("failed"), line("passed"), "held", False),
        pytest.param(REWRITTEN, line("passed"), line("failed"), "failed", False),
    ],
    ids=[
        "it passes with the base's judge",
        "a red test passes only in the rewritten form",
        "an expectation changed: another check asks",
        "the line is for tests that the attempt brought",
        "its judge was changed",
        "its judge was changed, and it passed before",
        "a file is missing that nobody asked about",
        "it fails as the attempt left it",
    ],
)
def test_the_verdict_on_a_line_is_taken_with_the_judge_of_the_base(
    split: Split, bench: CheckResult, left: CheckResult, outcome: str, decisive: bool
) -> None:
    found = answered(split, bench, left)

    assert (found.outcome, found.decisive) == (outcome, decisive)


def test_a_person_is_asked_about_the_line_as_it_was_written_and_told_what_the_task_does_not_name() -> None:
    bench = replace(line("failed", before="passed"), argv=("/bin/sh", "-c", "sh check.sh | grep -q ok"))

    found = answered(JUDGE, bench, line("passed"))

    said = "`sh check.sh | grep -q ok` passes only with these files: check.sh, which the task does not name in Files"
    assert found.summary == said


def test_tests_in_files_that_the_attempt_changed_show_nothing_by_themselves() -> None:
    named = Split(judged=("a.py", "tests/test_a.py"), tests=("tests/test_a.py",))
    passed = line("passed", case("passed", "failed"))

    assert not answered(named, passed, passed, differ=False).decisive
    assert answered(Split(judged=("a.py",)), passed, passed, differ=False).decisive
