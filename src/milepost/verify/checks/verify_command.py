"""The check that runs a task's own `Verify:` line."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult, ending_in_words
from milepost.core.verdict import CheckOutcome, CheckResult, TestCase
from milepost.verify.command_runner import Bench, last_line, log_of
from milepost.verify.programs.command_line import argv_of, runs_pytest
from milepost.verify.programs.pytest_options import report_options
from milepost.verify.suites import junit, report_file

PROGRAM_NOT_FOUND = 127
NAME = "verify"
PYTEST_COLLECTED_NOTHING = 5

_OWN_REPORT = ("--junitxml", "--junit-xml", "no:junitxml")
_UNITTEST_END = re.compile(r"^Ran (\d+) tests? in .*\s+^(?:OK|NO TESTS RAN)(?: \(.*?skipped=(\d+).*\))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCheck:
    """Decisive, since the line was written for this very task by whoever wrote the roadmap.

    A line that passed `before` says nothing about a change without `substance`, such as a comment.
    """

    command_line: str
    bench: Bench
    before: CheckOutcome | None = None
    substance: bool = True

    def run(self, workspace: Workspace) -> CheckResult:
        argv = argv_of(self.command_line)
        if not argv:
            return CheckResult(name=NAME, outcome="failed", summary="the Verify line is empty", decisive=True)
        if runs_pytest(argv) and not any(sign in word for word in argv for sign in _OWN_REPORT):
            result, cases, doubt = self._run_pytest(argv, workspace)
        else:
            result = self.bench.run(argv, workspace)
            cases, doubt = (), _doubt_about_unittest(result)
        failed = [case for case in cases if case.outcome == "failed"]
        passed = result.succeeded and not doubt and not failed
        ending = f"`{self.command_line}` {ending_in_words(result, program=argv[0], timeout_s=self.bench.timeout_s)}"
        detail = "" if passed else _detail(result, argv, failed, doubt)
        if passed and self.before == "passed":
            detail = (
                "it also passed before the attempt"
                if self.substance
                else "it also passed before the attempt, and nothing of substance changed"
            )
        return CheckResult(
            name=NAME,
            outcome="passed" if passed else "failed",
            summary=f"{ending}: {detail}" if detail else ending,
            decisive=self.before == "failed",
            before=self.before,
            environment=self.bench.fingerprint(argv),
            argv=argv,
            exit_code=result.exit_code,
            cases=cases,
            log=log_of(result),
            duration_ms=result.duration_ms,
            enforced=result.enforced,
        )

    def _run_pytest(
        self, argv: tuple[str, ...], workspace: Workspace
    ) -> tuple[CommandResult, tuple[TestCase, ...], str]:
        """Run pytest with a report asked for: exit 0 from a process that could not finish its report proves nothing."""
        path = report_path(self.command_line, workspace.scratch)
        report_file.clear(path)
        options = report_options(workspace.folder, path, argv)
        result = self.bench.run(argv, workspace, env={"PYTEST_ADDOPTS": shlex.join(options)})
        text = report_file.read(path)
        if text is None:
            return result, (), "it wrote no report"
        try:
            cases = junit.parse(text, self.bench.redact)
        except junit.JUnitInvalid as problem:
            return result, (), str(problem)
        return result, cases, _doubt_about(cases)


def report_path(command_line: str, scratch: Path) -> Path:
    return scratch / f"verify-{hashlib.sha256(command_line.encode()).hexdigest()[:12]}.xml"


def _doubt_about(cases: tuple[TestCase, ...]) -> str:
    if not cases:
        return "no test ran"
    return "every test was skipped" if all(case.outcome == "skipped" for case in cases) else ""


def _doubt_about_unittest(result: CommandResult) -> str:
    """unittest before Python 3.12 ends with 0 when it found no test at all."""
    if not (end := _UNITTEST_END.search(result.stderr) or _UNITTEST_END.search(result.stdout)):
        return ""
    ran, skipped = int(end[1]), int(end[2] or 0)
    if ran == 0:
        return "Ran 0 tests"
    return "every test was skipped" if ran == skipped else ""


def _detail(result: CommandResult, argv: tuple[str, ...], failed: list[TestCase], doubt: str) -> str:
    """The one thing that tells most about why the command failed."""
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return f"{failed[0].id}: {failed[0].message}{more}"
    if result.succeeded:
        return doubt
    if result.termination != "exited":
        return ""
    if result.exit_code == PYTEST_COLLECTED_NOTHING and runs_pytest(argv):
        return "no tests were collected"
    last = last_line(result.stderr) or last_line(result.stdout)
    return f"not found: {last or argv[0]}" if result.exit_code == PROGRAM_NOT_FOUND else last
