"""The check that what a `Verify:` line says of tests is what the engine sees when it runs them itself."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckResult, TestCase
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench
from milepost.verify.programs.command_line import pytest_arguments
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.runner import run_pytest

NAME = "agreement"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementCheck:
    """A test that a `Verify:` line calls passed, and the engine's own run calls failed, proves nothing.

    The report of such a line is written by the process under test. Tests of it that are not among the project's own,
    as the engine ran them, are run here once more, with a witness.
    """

    bench: Bench

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        own = {case.id: case for check in earlier if check.name == "tests" for case in check.cases}
        lines = [check for check in earlier if check.name == "verify" and check.outcome == "passed"]
        for line in lines:
            if any(case.outcome == "passed" and case.id not in own for case in line.cases):
                run = self._witnessed(line, workspace)
                if run.problem:
                    return _against(f"`{' '.join(line.argv)}` run again by Milepost: {run.problem}", run)
                own = {case.id: case for case in run.cases} | own
        claimed = [case.id for line in lines for case in line.cases if case.outcome == "passed"]
        both = [name for name in claimed if name in own]
        against = tuple(name for name in both if own[name].outcome == "failed" and not own[name].flaky)
        if against:
            return _against(f"passed in the Verify command, failed when Milepost ran it: {listed(against)}")
        counted = "1 test" if len(both) == 1 else f"{len(both)} tests"
        if not both:
            return CheckResult(
                name=NAME, outcome="absent", summary="no test ran both in the Verify command and in the test suite"
            )
        return CheckResult(name=NAME, outcome="passed", summary=f"{counted} had the same result in both runs")

    def _witnessed(self, line: CheckResult, workspace: Workspace) -> SuiteRun:
        """The tests of a line run by the engine; a program of its own, by a path, may have what ours has not."""
        interpreter = self.bench.interpreter
        words = pytest_arguments(line.argv) if interpreter and "/" not in line.argv[0] else None
        if interpreter is None or words is None or not self.bench.has_pytest(interpreter, workspace):
            return SuiteRun(argv=(), exit_code=None)
        first = run_pytest(words, workspace, self.bench)
        if not any(_is_denied(case, line) for case in first.cases):
            return first
        again = run_pytest(words, workspace, self.bench)  # a test that fails now and then is another check's question
        return again if not again.problem else first


def _is_denied(case: TestCase, line: CheckResult) -> bool:
    return case.outcome == "failed" and any(one.id == case.id and one.outcome == "passed" for one in line.cases)


def _against(summary: str, run: SuiteRun | None = None) -> CheckResult:
    seen = run or SuiteRun(argv=(), exit_code=None)
    return CheckResult(
        name=NAME,
        outcome="failed",
        summary=summary,
        argv=seen.argv,
        exit_code=seen.exit_code,
        log=seen.log,
        duration_ms=seen.duration_ms,
        enforced=seen.enforced,
        environment=seen.environment,
    )
