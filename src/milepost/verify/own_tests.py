"""What an attempt brought itself that shows its work: its tests, and the `Verify:` lines that run them."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.verdict import CheckResult, TestCase
from milepost.verify.judging.changed_tests import file_of, is_of_changed_file
from milepost.verify.judging.describe import is_same
from milepost.verify.judging.paths import is_test_path
from milepost.verify.judging.split import Split
from milepost.verify.programs.command_line import argv_of
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.suites.detect import MAKE, NPM
from milepost.verify.witness.swap import read_plainly


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWork:
    """`ids` are the tests, `lines` those `Verify:` lines that show it by their exit code alone.

    `asked_for`: a line of the user's runs them. `beside` are tests of the same files that stayed as they were: they
    show nothing, and may notice faults all the same.
    """

    ids: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    asked_for: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        return self.ids or tuple(f"`{line}`" for line in self.lines)

    def __bool__(self) -> bool:
        return bool(self.ids or self.lines)


def own_work(
    runs: CandidateRuns, lines: tuple[str, ...], earlier: tuple[CheckResult, ...], *, about_tests: bool = False
) -> OwnWork:
    """What the attempt brought that passes on its source and not on that of the base: first what a line runs."""
    red = _not_green_on_old_source(runs, about_tests=about_tests)
    own = own_tests(runs, about_tests=about_tests)
    beside = tuple(name for name in red if name not in own)
    if any(case.id in own for check in earlier if check.name.startswith("verify") for case in check.cases):
        return OwnWork(ids=own, beside=beside, asked_for=True)
    if not about_tests and (by_line := _by_lines(runs, lines, earlier)):
        return by_line
    return OwnWork(ids=own or (() if lines or about_tests else _suites_of_one_answer(runs)), beside=beside)


def own_tests(runs: CandidateRuns, *, about_tests: bool = False) -> tuple[str, ...]:
    """The tests of the suite that the attempt brought or changed, which pass on its source and not on the base's.

    Where the task is `about_tests` there is no other source. Of a file that the old source cannot load, those that
    passed before and stayed as they were show nothing.
    """
    found = _not_green_on_old_source(runs, about_tests=about_tests)
    passed = {case.id for _, run in runs.on_bench for case in run.cases if case.outcome == "passed"}
    if about_tests or not passed.intersection(found):
        return found
    return tuple(name for name in found if name not in passed or not _is_as_it_was(name, runs)) or found


def _not_green_on_old_source(runs: CandidateRuns, *, about_tests: bool) -> tuple[str, ...]:
    split = runs.trees.split
    changed = frozenset((*split.tests, *split.judged)) if about_tests else split.changed
    if not changed or (not about_tests and not split.product):
        return ()
    bench = {case.id: case.outcome for _, run in runs.on_bench for case in run.cases}
    brought = [
        name
        for name, case in runs.now.items()
        if case.outcome == "passed"
        and (
            name not in bench
            or file_of(name) in changed
            or (about_tests and _is_of_module(name, changed))
            or (bench[name] == "failed" and is_of_changed_file(name, split))
        )
    ]
    if not brought or about_tests:
        return tuple(brought)
    old = runs.on_old_source
    return tuple(
        name for name in brought if old is not None and old.get(name) != "passed" and name not in runs.fail_alone
    )


def _is_of_module(test: str, files: frozenset[str]) -> bool:
    """Whether a test of a Rust program is of a module with a file of its own among these: its id names the crate's."""
    crate, *modules = test.split("::")
    return crate.endswith(".rs") and any(
        path.endswith(".rs") and path.removesuffix("/mod.rs").removesuffix(".rs").rpartition("/")[2] in modules[:-1]
        for path in files
    )


def _is_as_it_was(test: str, runs: CandidateRuns) -> bool:
    """Whether a test is the same as at the base, where only its file as it is now could not be loaded."""
    path = file_of(test)
    if (runs.on_old_source or {}).get(path) != "failed":
        return False
    trees = runs.trees
    before, after = (read_plainly(tree.workspace.folder, path) or b"" for tree in (trees.bench, trees.as_it_is))
    return is_same(path, before.decode("utf-8", "replace"), after.decode("utf-8", "replace"), test)


def _suites_of_one_answer(runs: CandidateRuns) -> tuple[str, ...]:
    """The suites in which no test can be seen that pass with the attempt's tests, and on the old source do not."""
    whole = {case.id for suite, run in runs.on_bench if suite.runner in (NPM, MAKE) for case in run.cases}
    passed = [name for name in whole if (case := runs.now.get(name)) is not None and case.outcome == "passed"]
    if not passed or not _brings_tests(runs.trees.split) or not runs.trees.split.product:
        return ()
    old = runs.on_old_source
    return tuple(name for name in passed if old is not None and old.get(name) == "failed")


def _by_lines(runs: CandidateRuns, lines: tuple[str, ...], earlier: tuple[CheckResult, ...]) -> OwnWork:
    """What the lines run that the suite does not: other tests, with other options, or none that can be seen."""
    split = runs.trees.split
    if not runs.trees.differ or not _brings_tests(split) or not split.product:
        return OwnWork()
    passed = {check.argv: check for check in earlier if check.name == "verify" and check.outcome == "passed"}
    ids: list[str] = []
    shown: list[str] = []
    for line in lines:
        check = passed.get(argv_of(line))
        brought = [case.id for case in check.cases if _is_brought(case, split.changed)] if check else []
        if check is None or (check.cases and not brought):
            continue
        old = runs.line_on_old_source(line)
        if old is None:
            continue
        ids += [name for name in brought if old.get(name) != "passed"]
        shown += [line] if not check.cases and old.get(line) == "failed" else []
    return OwnWork(ids=tuple(dict.fromkeys(ids)), lines=() if ids else tuple(shown), asked_for=True)


def _brings_tests(split: Split) -> bool:
    return any(path in split.tests or is_test_path(path) for path in (*split.restored, *split.left_out))


def _is_brought(case: TestCase, changed: frozenset[str]) -> bool:
    return case.outcome == "passed" and (case.before is None or file_of(case.id) in changed)
