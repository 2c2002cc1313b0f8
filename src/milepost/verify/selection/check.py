"""The check of a task's own `Verify:` line: by its tests where they can be seen, else by its exit code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.core.basis import EXIT_CODE_ALONE
from milepost.core.commands import CommandResult, ending_in_words
from milepost.core.verdict import CheckOutcome, CheckResult
from milepost.verify.command_runner import Bench, last_line, log_of, tail
from milepost.verify.programs.command_line import argv_of
from milepost.verify.selection.at_base import LineAtBase
from milepost.verify.selection.judgement import Judgement, judged
from milepost.verify.selection.line import LineReading, read_line
from milepost.verify.selection.observe import NO_RUNNER, is_served
from milepost.verify.selection.run import run_selections
from milepost.verify.suites.suite import SuiteRun

NAME = "verify"
PROGRAM_NOT_FOUND = 127
LONGEST_LOG = 8_000

_UNITTEST_END = re.compile(r"^Ran (\d+) tests? in .*\s+^(?:OK|NO TESTS RAN)(?: \(.*?skipped=(\d+).*\))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyCheck:
    """Asks whether a `Verify:` line holds, by the tests that it selects as the engine itself has seen them.

    `before` is how the line stood at the base, None where that is not known. A line that is nothing but test runners is
    not run itself; one that starts them in another way is, and must end with 0 as well. The answer is decisive where
    something in it was red at the base. `runners` are those of the project's own suite, as the settings name them.
    """

    command_line: str
    bench: Bench
    before: LineAtBase | None = None
    runners: tuple[str, ...] = ()
    removal: bool = False

    def run(self, workspace: Workspace) -> CheckResult:
        return self.run_after(workspace, ())

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        """The answer; where the line is the whole suite, and that was run `earlier`, from that run."""
        argv = argv_of(self.command_line)
        if not argv:
            return CheckResult(name=NAME, outcome="failed", summary="the Verify line is empty")
        reading = self._reading()
        if not reading.selections:
            return self._by_exit_code(argv, self.bench.run(argv, workspace))
        run = self._served(reading, workspace, earlier) or run_selections(reading.selections, workspace, self.bench)
        if run.missing and self.before is None:
            return self._by_exit_code(argv, self.bench.run(argv, workspace), run.missing)
        found = judged(run, self.before, removal=self.removal)
        plain = None if reading.is_runner or found.outcome == "failed" else self.bench.run(argv, workspace)
        return self._result(argv, run, found, plain)

    def _reading(self) -> LineReading:
        """The selections as they were seen at the base; none where tests cannot be seen."""
        if self.before is None:
            read = read_line(self.command_line)
            return read if read.is_runner else LineReading()
        if self.before.unseen:
            return LineReading()
        return LineReading(selections=self.before.selections, is_runner=self.before.is_runner)

    def _served(self, reading: LineReading, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> SuiteRun | None:
        suite = next((check for check in earlier if check.name == "tests" and check.cases), None)
        if suite is None or not reading.is_runner or not is_served(reading, workspace, self.bench, self.runners):
            return None
        return SuiteRun(
            argv=suite.argv,
            exit_code=suite.exit_code,
            cases=suite.cases,
            enforced=suite.enforced,
            environment=suite.environment,
        )

    def _result(
        self, argv: tuple[str, ...], run: SuiteRun, found: Judgement, plain: CommandResult | None
    ) -> CheckResult:
        outcome, summary = self._with_plain(found, argv, plain)
        was_red = self.before is not None and (self.before.outcome == "failed" or bool(found.mended))
        return CheckResult(
            name=NAME,
            outcome=outcome,
            summary=f"`{self.command_line}`: {summary}",
            decisive=outcome == "passed" and was_red,
            argv=argv,
            exit_code=plain.exit_code if plain else run.exit_code,
            cases=found.cases,
            log=tail("\n".join(part for part in (run.log, log_of(plain) if plain else "") if part), LONGEST_LOG),
            duration_ms=run.duration_ms + (plain.duration_ms if plain else 0),
            enforced=tuple(word for word in run.enforced if not plain or word in plain.enforced),
            before=self.before.outcome if self.before else None,
            environment=run.environment or self.bench.fingerprint(argv),
            questions=found.questions if outcome == "held" else (),
            needed=found.needed,
        )

    def _with_plain(
        self, found: Judgement, argv: tuple[str, ...], plain: CommandResult | None
    ) -> tuple[CheckOutcome, str]:
        """What the line itself came to goes over what its tests did, unless tests that fail as before explain it."""
        if plain is not None and not plain.succeeded and found.outcome == "passed":
            return "failed", f"{self._ending(argv, plain)}, though its tests pass ({found.summary})"
        if found.outcome == "passed" and self.before and self.before.outcome == "passed" and not found.mended:
            return "passed", f"{found.summary}, as before the attempt"
        return found.outcome, found.summary

    def _by_exit_code(self, argv: tuple[str, ...], result: CommandResult, why: str = "") -> CheckResult:
        """The answer where no test can be seen. A line that says itself that it ran none has not passed."""
        doubt = _doubt_about_unittest(result)
        passed = result.succeeded and not doubt
        was = self.before.outcome if self.before else None
        reasons = [f"{EXIT_CODE_ALONE}, {why or (self.before.unseen if self.before else NO_RUNNER)}"]
        reasons += ["it also passed before the attempt"] if passed and was == "passed" else []
        detail = "; ".join(reasons) if passed else doubt
        ending = self._ending(argv, result)
        return CheckResult(
            name=NAME,
            outcome="passed" if passed else "failed",
            summary=f"`{self.command_line}` {ending}: {detail}" if detail else f"`{self.command_line}` {ending}",
            decisive=passed and was == "failed",
            argv=argv,
            exit_code=result.exit_code,
            log=log_of(result),
            duration_ms=result.duration_ms,
            enforced=result.enforced,
            before=was,
            environment=self.bench.fingerprint(argv),
        )

    def _ending(self, argv: tuple[str, ...], result: CommandResult) -> str:
        """How a command ended, and the line that tells most about why."""
        ending = ending_in_words(result, program=argv[0], timeout_s=self.bench.timeout_s)
        if result.succeeded or result.termination != "exited":
            return ending
        last = last_line(result.stderr) or last_line(result.stdout)
        if result.exit_code == PROGRAM_NOT_FOUND:
            return f"{ending}: not found: {last or argv[0]}"
        return f"{ending}: {last}" if last else ending


def _doubt_about_unittest(result: CommandResult) -> str:
    """unittest before Python 3.12 ends with 0 when it found no test at all."""
    if not (end := _UNITTEST_END.search(result.stderr) or _UNITTEST_END.search(result.stdout)):
        return ""
    ran, skipped = int(end[1]), int(end[2] or 0)
    if ran == 0:
        return "Ran 0 tests"
    return "every test was skipped" if ran == skipped else ""
