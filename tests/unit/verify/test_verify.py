"""The checks put to a tree: what is kept of their answers, and what becomes of one that breaks."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.errors import GitFailed, StateUnwritable
from milepost.core.secrets.redact import Redactor
from milepost.core.verdict import CheckResult, TestCase, Verdict
from milepost.verify.command_runner import Bench
from milepost.verify.verify import verify
from tests.fakes.suite_check import one_tree

HERE = Workspace(folder=Path("/cache/run/tree"), scratch=Path("/cache/run/scratch"), base="0" * 40)
PASSED = CheckResult(name="verify", outcome="passed", summary="", decisive=True)


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("nothing is run here")


TREES = one_tree(Bench(terminal=NoTerminal()), HERE)


class Answers:
    def __init__(self, answer: CheckResult) -> None:
        self._answer = answer

    def run(self, workspace: Workspace) -> CheckResult:
        return self._answer


class BreaksCheck:
    def __init__(self, problem: Exception) -> None:
        self._problem = problem

    def run(self, workspace: Workspace) -> CheckResult:
        raise self._problem


@pytest.mark.parametrize(
    "problem",
    [
        RecursionError("too deep"),
        MemoryError(),
        UnicodeEncodeError("utf-8", "x", 0, 1, "no"),
        PermissionError(13, "no"),
    ],
)
def test_a_check_that_breaks_is_not_passed_and_the_others_are_still_asked(problem: Exception) -> None:
    evidence = verify(TREES, (BreaksCheck(problem), Answers(PASSED)), "tree", Redactor())

    broken, other = evidence.checks
    assert (evidence.verdict, broken.name, other.outcome) == (Verdict.FAILED, "breaks", "passed")
    assert type(problem).__name__ in broken.summary and type(problem).__name__ in broken.log


@pytest.mark.parametrize(
    ("problem", "raised"),
    [(OSError(errno.ENOSPC, "full"), StateUnwritable), (GitFailed("git is gone"), GitFailed)],
)
def test_a_failure_of_the_machine_is_no_answer_of_a_check(problem: Exception, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        verify(TREES, (BreaksCheck(problem),), "tree", Redactor())


def test_no_path_of_the_checkout_is_kept() -> None:
    text = "/cache/run/tree/app.py, --rootdir=/cache/run/tree, /cache/run/scratch/report.xml"
    case = TestCase(id="/cache/run/tree/test_a.py::test_a", outcome="failed", message=text, traceback=text)
    told = CheckResult(name="tests", outcome="failed", summary=text, argv=(text,), cases=(case,), log=text)

    (kept,) = verify(TREES, (Answers(told),), "tree", Redactor()).checks

    plain = "app.py, --rootdir=., scratch/report.xml"
    assert (kept.summary, kept.argv, kept.log) == (plain, (plain,), plain)
    (found,) = kept.cases
    assert (found.id, found.message, found.traceback) == ("test_a.py::test_a", plain, plain)
