"""The hidden checks: pytest files that are put to a result, in the sandbox, from outside of it.

Nothing of the result decides how they are run: its settings, its conftest and its modules named like the runner's do
not take part, and every check that is there must have passed by its name.
"""

from __future__ import annotations

import ast
import shutil
from dataclasses import dataclass
from pathlib import Path

from milepost.core.commands import OWN_LOOPBACK, Command
from milepost.core.ports import Terminal
from milepost.verify.suites import junit

LONGEST_S = 120.0
CONFTEST = """\
import os
import sys

import pytest

sys.path.insert(0, os.environ["MILEPOST_BENCH_RESULT"])


@pytest.fixture
def result():
    return os.environ["MILEPOST_BENCH_RESULT"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenResult:
    """Whether a result is what was asked for; `reason` says what is not."""

    passed: bool
    reason: str = ""


def judge(checks: Path, result: Path, scratch: Path, python: Path, terminal: Terminal) -> HiddenResult:
    """Put the checks of a folder to a result."""
    place = scratch / "checks"
    shutil.copytree(checks, place, ignore=shutil.ignore_patterns("__pycache__"))
    (place / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    report = scratch / "report.xml"
    command = Command(
        argv=command_line(python, place, report),
        cwd=result,
        scratch=scratch,
        env={"MILEPOST_BENCH_RESULT": str(result), "PYTHONDONTWRITEBYTECODE": "1"},
        timeout_s=LONGEST_S,
        readable=(python.parent.parent,),
        network=OWN_LOOPBACK,
    )
    done = terminal.run(command)
    if not report.is_file():
        return HiddenResult(
            passed=False, reason=f"the checks did not run to their end: {_last(done.stderr, done.stdout)}"
        )
    try:
        cases = junit.parse(report.read_text(encoding="utf-8", errors="replace"))
    except junit.JUnitInvalid as problem:
        return HiddenResult(passed=False, reason=str(problem))
    passed = {_name(case.id) for case in cases if case.outcome == "passed"}
    failed = [case for case in cases if case.outcome != "passed"]
    missing = sorted(expected(checks) - passed)
    if failed or missing:
        names = [f"{_name(case.id)}: {case.message}" for case in failed] or [f"{missing[0]} did not run"]
        return HiddenResult(passed=False, reason=names[0])
    return HiddenResult(passed=done.succeeded, reason="" if done.succeeded else f"exit {done.exit_code}")


def command_line(python: Path, checks: Path, report: Path) -> tuple[str, ...]:
    """pytest over a folder of checks, isolated from the folder it is run in."""
    return (
        *(str(python), "-I", "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider"),
        *(f"--rootdir={checks}", f"--confcutdir={checks}", f"--junitxml={report}", str(checks)),
    )


def expected(checks: Path) -> set[str]:
    """The names of the tests that a folder of checks has."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sorted(checks.glob("test_*.py")))
    return {
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def _name(case_id: str) -> str:
    return case_id.rpartition("::")[2].partition("[")[0]


def _last(*texts: str) -> str:
    lines = [line for text in texts for line in text.splitlines()[-1:]]
    return lines[0] if lines else "it said nothing"
