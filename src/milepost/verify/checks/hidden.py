"""The check that runs a task's `Verify hidden:` lines, with tests that nobody who is judged has seen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from milepost.core.attempt import Workspace
from milepost.core.commands import ending_in_words
from milepost.core.verdict import CheckOutcome, CheckResult, TestCase
from milepost.verify.checks.plain_tests import run_plainly
from milepost.verify.command_runner import Bench
from milepost.verify.laid_tests import Material, laid, told
from milepost.verify.programs.command_line import argv_of
from milepost.verify.selection.check import PROGRAM_NOT_FOUND
from milepost.verify.selection.line import read_line
from milepost.verify.selection.run import run_selections

NAME = "hidden tests"

# How runners name a test that failed, one a line.
_FAILED = re.compile(
    r"^(?:FAIL(?:ED|URE)?:?\s+|ERROR:?\s+|not ok \d+ - |--- FAIL: |test (?=\S+ \.\.\. FAILED)|\s*[✕✗×✖]\s+)"
    r"(?P<name>\S.{0,150}?)"
    r"(?: \.\.\. FAILED|\s+\([\d.]+ ?m?s\))?\s*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTestsCheck:
    """Decisive: the user wrote these tests for this very task. What comes back names tests and says what they found,
    never how they are written.

    `before` is the answer at the base.
    """

    command_line: str
    bench: Bench
    material: Material = field(default_factory=Material)
    before: CheckOutcome | None = None

    def run(self, workspace: Workspace) -> CheckResult:
        argv = argv_of(self.command_line)
        if not argv:
            return _absent("the Verify hidden line is empty")
        with laid(self.material, workspace):
            answer = self._under_the_runner(argv, workspace)
            if answer.outcome == "passed":
                answer = self._as_a_program(answer, workspace)
        cases = tuple(told(case, self.material) for case in answer.cases)
        return CheckResult(
            name=NAME,
            outcome=answer.outcome,
            summary=answer.summary if answer.outcome != "failed" else _summary(cases, answer.summary),
            decisive=answer.outcome != "absent",
            needed=answer.outcome == "absent",
            argv=argv,
            exit_code=answer.exit_code,
            cases=cases,
            duration_ms=answer.duration_ms,
            enforced=answer.enforced,
            before=self.before,
            environment=self.bench.fingerprint(argv),
        )

    def _under_the_runner(self, argv: tuple[str, ...], workspace: Workspace) -> CheckResult:
        reading = read_line(self.command_line)
        if reading.is_runner:
            ran = run_selections(reading.selections, workspace, self.bench)
            failed = [case for case in ran.cases if case.outcome == "failed"]
            seen = [case for case in ran.cases if case.outcome != "skipped"]
            sound = not ran.problem and not ran.missing and not failed and bool(seen)
            return CheckResult(
                name=NAME,
                outcome="absent" if ran.missing else "passed" if sound else "failed",
                summary=f"the hidden tests could not be run: {ran.missing}" if ran.missing else _counted(ran.cases),
                exit_code=ran.exit_code,
                cases=ran.cases,
                duration_ms=ran.duration_ms,
                enforced=ran.enforced,
            )
        result = self.bench.run(argv, workspace)
        if result.exit_code == PROGRAM_NOT_FOUND or result.termination == "not_started":
            return _absent("the hidden tests could not be run: the program of their line was not found")
        names = dict.fromkeys(found["name"] for found in _FAILED.finditer(f"{result.stdout}\n{result.stderr}"))
        return CheckResult(
            name=NAME,
            outcome="passed" if result.succeeded else "failed",
            summary=f"the hidden check {ending_in_words(result, program=argv[0], timeout_s=self.bench.timeout_s)}",
            exit_code=result.exit_code,
            cases=() if result.succeeded else tuple(TestCase(id=name, outcome="failed") for name in names),
            duration_ms=result.duration_ms,
            enforced=result.enforced,
        )

    def _as_a_program(self, answer: CheckResult, workspace: Workspace) -> CheckResult:
        """The same once more without a runner: work that is right only under one is not right."""
        passed = frozenset(case.id for case in answer.cases if case.outcome == "passed")
        cases, problem = run_plainly(self.material, passed, workspace, self.bench)
        failed = tuple(case for case in cases if case.outcome == "failed")
        if failed:
            seen = {case.id: case for case in (*answer.cases, *failed)}
            summary = f"{failed[0].id} passes under a test runner alone"
            return CheckResult(name=NAME, outcome="failed", summary=summary, cases=tuple(seen.values()), exit_code=0)
        note = f", {len(cases)} of them also without a runner" if cases else ""
        summary = f"{answer.summary}{note}{f' (not without a runner: {problem})' if problem else ''}"
        return CheckResult(
            name=NAME,
            outcome="passed",
            summary=summary,
            cases=answer.cases,
            exit_code=answer.exit_code,
            duration_ms=answer.duration_ms,
            enforced=answer.enforced,
        )


def _absent(summary: str) -> CheckResult:
    return CheckResult(name=NAME, outcome="absent", summary=summary, needed=True)


def _counted(cases: tuple[TestCase, ...]) -> str:
    ran = [case for case in cases if case.outcome != "skipped"]
    if not ran:
        return "the hidden line ran no test"
    return f"{len(ran)} hidden {'test' if len(ran) == 1 else 'tests'} passed"


def _summary(cases: tuple[TestCase, ...], otherwise: str) -> str:
    failed = [case for case in cases if case.outcome == "failed"]
    if not failed:
        return otherwise
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return f"hidden test failed: {failed[0].id}{f': {failed[0].message}' if failed[0].message else ''}{more}"
