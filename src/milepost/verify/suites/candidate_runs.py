"""The project's tests on the trees of one candidate: each is run when it is asked for, and once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.baseline_port import Before
from milepost.verify.judging.paths import JAVASCRIPT, PYTHON, is_test_name, suffix
from milepost.verify.suites.detect import JAVASCRIPT as JAVASCRIPT_RUNNERS
from milepost.verify.suites.detect import PYTHON as PYTHON_RUNNERS
from milepost.verify.suites.detect import FoundSuite, suites
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.trees import Tree, Trees

Runs = tuple[tuple[FoundSuite, SuiteRun], ...]
Content = Mapping[str, bytes | None]


class CandidateRuns:
    """`content` is what the changed files that judge hold now, None for those that are gone."""

    def __init__(self, trees: Trees, before: Before, content: Content, runners: tuple[str, ...] = ()) -> None:
        self.trees = trees
        self._before = before
        self._content = content
        self._runners = runners

    @cached_property
    def on_bench(self) -> Runs:
        """All tests as they were at the base, on the new source."""
        return run_suites(self.trees.bench, self._runners)

    @cached_property
    def as_they_are(self) -> Runs:
        """The tests as they are now, on the new source: those of the changed files where nothing else can matter."""
        if not self.trees.differ:
            return self.on_bench
        return self._alone if self.only_changed else run_suites(self.trees.as_it_is, self._runners)

    @cached_property
    def fail_alone(self) -> frozenset[str]:
        """The tests that fail in a run of the changed files alone: they may need what others do before them."""
        return frozenset(case.id for case in cases_of(self._alone) if case.outcome == "failed")

    @cached_property
    def _alone(self) -> Runs:
        return run_suites(self.trees.as_it_is, self._runners, self._changed) if self._changed else ()

    @cached_property
    def only_changed(self) -> tuple[str, ...]:
        """The changed test files, where a run of these alone tells how all tests stand; else nothing."""
        if not self._changed or self._breaks_others or self.fail_alone or any(run.problem for _, run in self._alone):
            return ()
        return self._changed

    @property
    def _breaks_others(self) -> bool:
        """Whether tests of files that are as they were fail now: they may be made of what changed files define."""
        failed = [case.id for case in cases_of(self.on_bench) if case.outcome == "failed"]
        others = [name for name in failed if name.partition("::")[0] not in self._changed]
        known = (self._before.tests() or {}) if others else {}
        return any(known.get(name) == "passed" for name in others)

    @cached_property
    def _changed(self) -> tuple[str, ...]:
        """The changed test files, where no other file that judges was touched; else nothing, which means all tests."""
        split = self.trees.split
        if not self.trees.differ:
            return ()
        touched = (*split.restored, *split.left_out, *split.uncertain, *split.merged)
        known = {*PYTHON_RUNNERS, *JAVASCRIPT_RUNNERS}
        alone = all(path in split.tests and _holds_tests(path) for path in touched)
        return split.tests if alone and all(suite.runner in known for suite, _ in self.on_bench) else ()

    @cached_property
    def now(self) -> Mapping[str, TestCase]:
        """Every test that there is now, by its id."""
        changed = set(self.only_changed)
        kept = {case.id: case for case in cases_of(self.on_bench) if case.id.partition("::")[0] not in changed}
        return {**(kept if changed else {}), **{case.id: case for case in cases_of(self.as_they_are)}}

    @cached_property
    def on_old_source(self) -> Mapping[str, TestOutcome] | None:
        """The changed tests as they are now, on the source of the base; None where they could not be run there."""
        return self._before.tests_with(self._content)

    def line_on_old_source(self, line: str) -> Mapping[str, TestOutcome] | None:
        """What a `Verify:` line comes to with what judges as it is now, on the source of the base."""
        return self._before.line_with(line, self._content)


def run_suites(tree: Tree, runners: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> Runs:
    """Run the suites of a checkout, or only the tests of these ids or files."""
    workspace, bench = tree.workspace, tree.bench
    return tuple(
        (suite, suite.runner.run(suite.folder, workspace, bench, only=only))
        for suite in suites(workspace.folder, runners)
    )


def cases_of(runs: Runs) -> tuple[TestCase, ...]:
    return tuple(case for _, run in runs for case in run.cases)


def _holds_tests(path: str) -> bool:
    """Whether a test file is code that is about its own tests alone: no setting or fixture that others share."""
    name = path.rpartition("/")[2]
    return suffix(path) in PYTHON | JAVASCRIPT and is_test_name(name) and name != "conftest.py"
