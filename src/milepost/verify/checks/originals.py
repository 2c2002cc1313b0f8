"""The check that runs the tests as they were before the attempt against the code as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.checks.tests import NAME as TESTS
from milepost.verify.command_runner import Bench
from milepost.verify.judging.paths import is_test_path, is_test_setting, name_of
from milepost.verify.suites.detect import FoundSuite, suites
from milepost.verify.suites.pairing import paired
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.swap import swapped

NAME = "original tests"
RERUNS = 2

# Files that say how tests are run, and also what the code needs or how it is built: an honest task may need theirs as
# they are now. What they do to the tests is for the guard to see, and for the ids that must still be there.
_MANIFESTS = frozenset(
    {"pyproject.toml", "setup.py", "setup.cfg", "package.json", "Cargo.toml", "CMakeLists.txt", "pom.xml", ".npmrc"}
    | {"build.gradle", "build.gradle.kts", "deno.json", "deno.jsonc", "Makefile", "makefile", "GNUmakefile", ".env"}
    | {"babel.config.js", "babel.config.json", "tsconfig.json"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalsCheck:
    """Asks whether the new code does what the tests asked that it was given.

    `before` are the outcomes at the base, None when they are unknown, and `parameters` what its parametrised tests
    were called with. With `may_change` the task is about the tests, and nothing is asked. `runners` are those that are
    used, all when empty.
    """

    change: Change
    bench: Bench
    before: Mapping[str, TestOutcome] | None
    parameters: Mapping[str, str] = field(default_factory=dict)
    may_change: bool = False
    runners: tuple[str, ...] = ()

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        """Run the base's tests in the checkout, which is as it was afterwards."""
        originals = originals_of(self.change)
        if self.may_change:
            return _absent("the task may change the tests")
        if not originals:
            return _absent("no test that was there before was changed")
        if not self.before:
            return _absent("the test results from before the attempt are not known")
        with swapped(workspace.folder, originals):
            found = suites(workspace.folder, self.runners)
            runs = tuple((suite, suite.runner.run(suite.folder, workspace, self.bench)) for suite in found)
            told = tuple(run for _, run in runs)
            wrong = _against(told, self.before, self._said(earlier))
            again = _passing_again(runs, wrong, workspace, self.bench)
        replaced = self._replaced(told, earlier)
        return judged(told, tuple(id_ for id_ in wrong if id_ not in again), self.before, replaced)

    def _said(self, earlier: tuple[CheckResult, ...]) -> frozenset[str]:
        """The tests that are said to pass now, by their ids at the base."""
        pairing = paired(_own(earlier), self.before, self.parameters)
        passed = (case.id for check in earlier for case in check.cases if case.outcome == "passed")
        return frozenset(map(pairing.at_base, passed))

    def _replaced(self, runs: tuple[SuiteRun, ...], earlier: tuple[CheckResult, ...]) -> tuple[str, ...]:
        """The tests that are called with the same here as at the base, and with that no longer as they are now.

        Parameters that are others each time, or that come from the code, were not taken from the tests.
        """
        now = {case.parameters for case in _own(earlier)}
        lost = {id_ for id_, told in self.parameters.items() if now and told not in now}
        same = (case.id for run in runs for case in run.cases if case.parameters == self.parameters.get(case.id))
        return tuple(id_ for id_ in same if id_ in lost and (self.before or {}).get(id_) != "skipped")


def originals_of(change: Change) -> dict[str, bytes | None]:
    """The tests and their settings as they were, by path; None for settings that were not there.

    New test files stay: they are about the new code, and no question of the base's.
    """
    return {
        file.path: file.before
        for file in change.files
        if _can_be_put_back(file) and (_is_setting(file.path) or (is_test_path(file.path) and not file.is_new))
    }


def judged(
    runs: tuple[SuiteRun, ...],
    wrong: tuple[str, ...],
    before: Mapping[str, TestOutcome],
    replaced: tuple[str, ...] = (),
) -> CheckResult:
    """What the original tests came to; `wrong` should pass and do not, `replaced` have lost their parameters."""
    worst = next((run for run in runs if run.problem), runs[0] if runs else SuiteRun(argv=(), exit_code=None))
    told = CheckResult(
        name=NAME,
        outcome="passed",
        summary="",
        argv=worst.argv,
        exit_code=worst.exit_code,
        cases=tuple(_with_before(case, before) for run in runs for case in run.cases if case.id in before),
        log=worst.log,
        duration_ms=sum(run.duration_ms for run in runs),
        enforced=worst.enforced,
        environment=worst.environment,
    )
    if worst.problem:
        return replace(told, outcome="failed", summary=f"with the original tests: {worst.problem}")
    if wrong:
        return replace(told, outcome="failed", summary=_accusation(wrong, told, before))
    if replaced:
        return replace(told, outcome="failed", summary=f"parameters were removed from the tests: {listed(replaced)}")
    return replace(told, summary=f"{told.count('passed')} passed in their original form")


def _accusation(wrong: tuple[str, ...], told: CheckResult, before: Mapping[str, TestOutcome]) -> str:
    rewritten = tuple(id_ for id_ in wrong if before[id_] == "failed")
    if rewritten:
        verb = "passes" if len(rewritten) == 1 else "pass"
        return f"{listed(rewritten)} {verb} only in the rewritten form"
    said = {case.id: case.message for case in told.cases}
    first = f"{wrong[0]}: {said[wrong[0]]}" if said.get(wrong[0]) else wrong[0]
    more = f"; also: {listed(wrong[1:])}" if len(wrong) > 1 else ""
    return f"no longer passes in its original form: {first}{more}"


def _own(earlier: tuple[CheckResult, ...]) -> tuple[TestCase, ...]:
    """The project's tests as they are now."""
    return tuple(case for check in earlier if check.name == TESTS for case in check.cases)


def _against(runs: tuple[SuiteRun, ...], before: Mapping[str, TestOutcome], said: frozenset[str]) -> tuple[str, ...]:
    """The tests that do not pass in their original form, though they did at the base or are `said` to pass now."""
    now = {case.id: case.outcome for run in runs for case in run.cases}
    files = {id_.partition("::")[0] for id_ in now if "::" in id_}
    return tuple(
        id_
        for id_, outcome in before.items()
        if now.get(id_) != "passed"
        and (outcome == "passed" or (outcome == "failed" and id_ in said))
        and not ("::" not in id_ and id_ in files)
    )


def _passing_again(
    runs: tuple[tuple[FoundSuite, SuiteRun], ...], wrong: tuple[str, ...], workspace: Workspace, bench: Bench
) -> frozenset[str]:
    """Those of these tests that pass when they are run again: they are flaky, which is another check's question."""
    passed: set[str] = set()
    for _ in range(RERUNS):
        left = tuple(id_ for id_ in wrong if id_ not in passed)
        failed = {case.id for _, run in runs for case in run.cases if case.outcome == "failed"}
        for suite, run in runs:
            here = tuple(id_ for id_ in left if id_ in failed and id_ in {case.id for case in run.cases})
            if here and not run.problem:
                again = suite.runner.run(suite.folder, workspace, bench, only=here)
                passed.update(case.id for case in again.cases if case.outcome == "passed" and not again.problem)
    return frozenset(passed)


def _can_be_put_back(file: ChangedFile) -> bool:
    """A link of the base, and a file that was not read whole, cannot be made again from what is known of them."""
    return not file.is_link and not file.unread


def _is_setting(path: str) -> bool:
    return is_test_setting(path) and name_of(path) not in _MANIFESTS


def _with_before(case: TestCase, before: Mapping[str, TestOutcome]) -> TestCase:
    return replace(case, before=before.get(case.id))


def _absent(summary: str) -> CheckResult:
    return CheckResult(name=NAME, outcome="absent", summary=summary)
