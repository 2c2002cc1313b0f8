from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase
from milepost.verify.checks.tests import TestsCheck
from milepost.verify.command_runner import Bench
from milepost.verify.judging.split import Split
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.suites.detect import FoundSuite
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.trees import Tree, Trees

CHANGED = "tests/test_a.py::changed"
BROKEN = "tests/test_b.py::broken"


class Again:
    """A runner that notes what it is asked to run again, and fails all of it."""

    name = "again"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        self.asked.append((workspace.folder.name, only))
        return SuiteRun(argv=("again",), exit_code=1, cases=tuple(_case(name, "failed") for name in only))


def _case(name: str, outcome: Any) -> TestCase:
    return TestCase(id=name, outcome=outcome)


def _tree(folder: Path) -> Tree:
    workspace = Workspace(folder=folder, scratch=folder, base="")
    return Tree(workspace=workspace, bench=Bench(terminal=cast(Any, None)))


def test_a_test_that_the_attempt_changed_is_not_run_again_as_it_was(tmp_path: Path) -> None:
    runner = Again()
    split = Split(judged=("a.py",), restored=("tests/test_a.py",), tests=("tests/test_a.py",))
    trees = Trees(as_it_is=_tree(tmp_path / "candidate"), bench=_tree(tmp_path / "bench"), split=split)
    runs = CandidateRuns(trees, cast(Any, None), {})
    suite = FoundSuite(runner=cast(Any, runner), folder="")
    as_was = SuiteRun(argv=("first",), exit_code=1, cases=(_case(CHANGED, "failed"), _case(BROKEN, "failed")))
    now = {CHANGED: _case(CHANGED, "passed"), BROKEN: _case(BROKEN, "failed")}
    vars(runs).update(on_bench=((suite, as_was),), now=now)

    found = TestsCheck(runs=runs, before={CHANGED: "passed", BROKEN: "passed"}).run(trees.as_it_is.workspace)

    assert runner.asked == [("bench", (BROKEN,))] * 2, "on the tree that it failed on"
    assert (found.outcome, found.summary) == ("failed", BROKEN)
