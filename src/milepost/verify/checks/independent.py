"""The check that runs tests which another agent wrote from the task's text, before anybody worked on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckOutcome, CheckResult, TestCase, TestOutcome
from milepost.verify.command_runner import Bench
from milepost.verify.laid_tests import Material, laid, told
from milepost.verify.suites.detect import PYTHON, suites
from milepost.verify.suites.suite import SuiteRun

NAME = "independent tests"

_UNREADABLE = ("import", "collection")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependentTests:
    """What a tester left for a task: its files, and how each test ended at the base. `problem` is why there is none."""

    tester: str
    files: Mapping[str, str] = field(default_factory=dict)
    at_base: Mapping[str, TestOutcome] = field(default_factory=dict)
    problem: str = ""

    @property
    def material(self) -> Material:
        return Material(files={path: text.encode() for path, text in self.files.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependentTestsCheck:
    """Decisive where one of the tests failed at the base, or where the task keeps behaviour, which they then guard.

    `known` are the tests that the project had at the base. What comes back does not tell how the tests are written.
    """

    tests: IndependentTests
    worker: str
    bench: Bench
    keeps_behaviour: bool = False
    known: frozenset[str] = frozenset()
    runners: tuple[str, ...] = ()

    def run(self, workspace: Workspace) -> CheckResult:
        tests, material = self.tests, self.tests.material
        if not tests.files:
            return CheckResult(name=NAME, outcome="absent", summary=f"no independent tests: {tests.problem}")
        ran = run_laid(material, workspace, self.bench, runners=self.runners, known=self.known)
        failed = tuple(case for case in ran.cases if case.outcome == "failed")
        useless = [case for case in failed if case.kind in _UNREADABLE and tests.at_base.get(case.id) == "failed"]
        passed = [case for case in ran.cases if case.outcome == "passed"]
        outcome: CheckOutcome = "failed" if failed else "passed" if passed else "absent"
        if failed and len(useless) == len(failed):
            outcome = "absent"
        return CheckResult(
            name=NAME,
            outcome=outcome,
            summary=self._summary(outcome, ran, tuple(told(case, material) for case in failed)),
            decisive=outcome == "failed" or (outcome == "passed" and self._decides(passed)),
            argv=ran.argv,
            exit_code=ran.exit_code,
            cases=tuple(told(case, material) for case in ran.cases),
            duration_ms=ran.duration_ms,
            enforced=ran.enforced,
            before="failed" if "failed" in tests.at_base.values() else "passed",
            environment=ran.environment,
        )

    def _decides(self, passed: list[TestCase]) -> bool:
        return self.keeps_behaviour or any(was_red(case.id, self.tests.at_base) for case in passed)

    def _summary(self, outcome: CheckOutcome, ran: SuiteRun, failed: tuple[TestCase, ...]) -> str:
        same = ", the same agent" if self.tests.tester == self.worker else ""
        whose = f"that {self.tests.tester} wrote before {self.worker or 'anybody'}{same} worked on the task"
        if outcome == "absent":
            why = failed[0].message if failed else ran.problem or ran.missing or "none of them was run"
            return f"the tests {whose} could not be run: {why}"
        if outcome == "failed":
            more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
            return f"a test {whose} fails: {failed[0].id}: {failed[0].message}{more}"
        count = sum(case.outcome == "passed" for case in ran.cases)
        return f"{count} {'test' if count == 1 else 'tests'} {whose} {'passes' if count == 1 else 'pass'}"


def run_laid(
    material: Material, workspace: Workspace, bench: Bench, *, runners: tuple[str, ...], known: frozenset[str]
) -> SuiteRun:
    """Run these tests, laid into a checkout: by their files, or where a runner names no files those that are new."""
    files = tuple(material.files)
    cases: list[TestCase] = []
    last = SuiteRun(argv=(), exit_code=None)
    with laid(material, workspace):
        for suite in suites(workspace.folder, runners):
            by_file = suite.runner.name in {runner.name for runner in PYTHON}
            ran = suite.runner.run(suite.folder, workspace, bench, files if by_file else ())
            own = [case for case in ran.cases if by_file or _is_own(case.id, files, known)]
            if own or (ran.problem and not last.cases):
                cases += own
                last = ran
    return SuiteRun(
        argv=last.argv,
        exit_code=last.exit_code,
        cases=tuple({case.id: case for case in cases}.values()),
        problem=last.problem,
        missing=last.missing,
        duration_ms=last.duration_ms,
        enforced=last.enforced,
        environment=last.environment,
    )


def was_red(test: str, at_base: Mapping[str, TestOutcome]) -> bool:
    """Whether a test failed at the base, by itself or because its file could not be read there."""
    return "failed" in (at_base.get(test), at_base.get(test.partition("::")[0]), at_base.get(""))


def _is_own(test: str, files: tuple[str, ...], known: frozenset[str]) -> bool:
    place = test.partition("::")[0]
    return place in files or (not _names_a_file(place) and test not in known)


def _names_a_file(place: str) -> bool:
    return "." in place.rpartition("/")[2].strip(".")
