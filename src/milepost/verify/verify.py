"""Which checks a candidate gets, and what they add up to."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.errors import MilepostError
from milepost.core.machine_failure import machine_failure
from milepost.core.ports import Check
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, judge
from milepost.verify.baseline_port import Before, UnknownBefore
from milepost.verify.checks.changed_tests import ChangedTestsCheck, Rule
from milepost.verify.checks.compiled_modules import CompiledModulesCheck
from milepost.verify.checks.coverage import CoverageCheck
from milepost.verify.checks.done import DoneCheck, OwnTestsRule, is_about_tests
from milepost.verify.checks.environment import EnvironmentCheck
from milepost.verify.checks.files import FilesCheck
from milepost.verify.checks.imports import ImportsCheck
from milepost.verify.checks.line_on_trees import LineOnTrees
from milepost.verify.checks.lint import LintCheck
from milepost.verify.checks.runtime import RuntimeCheck
from milepost.verify.checks.scope import ScopeCheck
from milepost.verify.checks.second_look import (
    Audit,
    CounterProof,
    LineProof,
    OwnTests,
    SameAnswers,
    SecondLook,
    UnderOtherNames,
    UnseenInputs,
    WithoutRunner,
)
from milepost.verify.checks.secrets import SecretsCheck
from milepost.verify.checks.stubs import StubsCheck
from milepost.verify.checks.syntax import SyntaxCheck
from milepost.verify.checks.tests import TestsCheck
from milepost.verify.checks.types import TypesCheck
from milepost.verify.checks.vulnerabilities import VulnerabilitiesCheck
from milepost.verify.command_runner import Bench, last_line, tail
from milepost.verify.judging.behaviour import about, is_about_speed, is_about_words, keeps_behaviour
from milepost.verify.judging.changed_tests import asks_for_removal
from milepost.verify.judging.docs_only import needs_suite
from milepost.verify.judging.examples import with_examples_of
from milepost.verify.judging.line_words import programs_in
from milepost.verify.judging.names import NamesCheck, asking
from milepost.verify.judging.paths import CODE, is_test_path, suffix
from milepost.verify.judging.split import Split
from milepost.verify.levels import Level, Mode, is_asked
from milepost.verify.outside_tests import OutsideTests, outside_checks
from milepost.verify.selection.check import VerifyCheck
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.trees import Tree, Trees, watched

LONGEST_TRACEBACK = 2_000
MOST_WATCHED = 200


class FollowUp(Protocol):
    """Puts a question that depends on the answers before it."""

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult: ...


Question = Check | FollowUp


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationScope:
    """How much is asked: what the settings say about verification."""

    level: Level = Level.TESTS
    mode: Mode = Mode.AUTO
    runners: tuple[str, ...] = ()
    reruns: int = 2
    lint: bool = False
    vulnerabilities: bool = False
    coverage: float | None = None
    most_files: int = 0
    largest_bytes: int = 0
    changed_tests: Rule = "ask"
    own_tests: OwnTestsRule = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is put to the question: the change of a task, who made it, its trees, and how things stood before."""

    tree: str
    task: Task
    change: Change
    agent: str
    trees: Trees
    base_files: frozenset[str] = frozenset()
    before: Before = field(default_factory=UnknownBefore)
    asked: VerificationScope = field(default_factory=VerificationScope)
    outside: OutsideTests = field(default_factory=OutsideTests)

    @property
    def bench(self) -> Bench:
        return self.trees.as_it_is.bench

    @property
    def by_pattern(self) -> bool:
        """Whether no model had a hand in it, so that tests it brings are not its author's own word."""
        return (self.agent or self.task.agent).startswith("pattern:")

    @property
    def needs_suite(self) -> bool:
        """Whether tests are run: not for prose, unless a line asks for it."""
        return bool(self.verify) or needs_suite(self.change) or not self.task.id

    @property
    def tests_may_change(self) -> bool:
        return any(part.tests_may_change for part in self.task.walk())

    @property
    def files(self) -> tuple[str, ...]:
        return files_of(self.task)

    @property
    def verify(self) -> tuple[str, ...]:
        return lines_of(self.task)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTree:
    """A check that is put to another tree than the candidate as it is."""

    check: Check
    tree: Tree

    def run(self, workspace: Workspace) -> CheckResult:
        return self.check.run(self.tree.workspace)


def files_of(task: Task) -> tuple[str, ...]:
    """The files that a task and its subtasks name."""
    return _each_once(file for part in task.walk() for file in part.files)


def words_of(task: Task) -> str:
    """What a task and its subtasks say."""
    return "\n".join(word for part in task.walk() for word in (part.title, part.text))


def lines_of(task: Task) -> tuple[str, ...]:
    """The `Verify:` lines of a task and its subtasks."""
    return _each_once(line for part in task.walk() for line in part.verify)


def checks_for(subject: Subject) -> tuple[Question, ...]:
    """The checks of a task and its subtasks, cheapest first."""
    asked = subject.asked
    if asked.mode is Mode.SKIP:
        return ()
    named = (*_of_the_change(subject), *_of_the_project(subject), *_of_the_tests(subject), *_beyond(subject))
    return tuple(check for name, check in named if is_asked(name, asked.level, asked.mode))


def _of_the_change(subject: Subject) -> Iterator[tuple[str, Question]]:
    """What the change alone tells."""
    task, change = subject.task, subject.change
    yield "files", FilesCheck(changed=change.paths, expected=subject.files, may_change_nothing=task.changes_nothing)
    yield (
        "scope",
        ScopeCheck(
            change=change,
            task=task,
            by_hand=not subject.agent,
            most_files=subject.asked.most_files,
            largest_bytes=subject.asked.largest_bytes,
        ),
    )
    yield "secrets", SecretsCheck(change=change, redact=subject.bench.redact)
    yield "stubs", StubsCheck(change=change, task=task)


def _of_the_project(subject: Subject) -> Iterator[tuple[str, Question]]:
    """Whether it still parses, imports and builds."""
    change, bench, before = subject.change, subject.bench, subject.before
    known = before.environment() if bench.equipment.problem else None
    yield "environment", EnvironmentCheck(bench=bench, before=known)
    yield "syntax", SyntaxCheck(change=change, bench=bench, expected=subject.files)
    yield (
        "names",
        NamesCheck(change=change, base_files=subject.base_files, installed=asking(bench), files=subject.files),
    )
    yield "imports", ImportsCheck(change=change, bench=bench, before=before.broken_imports)
    yield "runtime", RuntimeCheck(change=change, bench=bench, before=before.broken_builds)


def _of_the_tests(subject: Subject) -> Iterator[tuple[str, Question]]:
    """Whether the tests hold, as they were and as they are, whether they can fail, and whether they show the work."""
    trees, before = subject.trees, subject.before
    if not subject.needs_suite:
        yield "verify", _done(subject, CandidateRuns(trees, before, {}))
        return
    modules = CompiledModulesCheck(change=subject.change)
    yield "tests", modules
    if modules.older(trees.as_it_is.workspace.folder):
        return
    about_tests = is_about_tests(subject.task, subject.change, trees.split.tests)
    product = _product(subject, about_tests=about_tests)
    runs = CandidateRuns(watched(trees, product), before, _judging_content(subject), subject.asked.runners)
    yield from _by_runs(subject, runs)
    if not subject.task.id:
        return  # files as they are, and no task that they could be for
    yield "verify", _done(subject, runs)
    look = SecondLook(
        change=subject.change,
        product=product[:MOST_WATCHED],
        runs=runs,
        seed=subject.tree,
        runners=subject.asked.runners,
        about_tests=about_tests,
        lines=subject.verify,
    )
    yield from _second_look(subject, look)


def _product(subject: Subject, *, about_tests: bool) -> tuple[str, ...]:
    """The files that are judged; for a task about tests, all that tests could be about."""
    change, split = subject.change, subject.trees.split
    if about_tests:
        return tuple(path for path in sorted(subject.base_files) if suffix(path) in CODE and not is_test_path(path))
    if split.judged or split.examples:
        return split.product
    return tuple(path for path in change.paths if path not in split.tests)


def _judging_content(subject: Subject) -> dict[str, bytes | None]:
    """The changed files that judge, as they are run on the source of the base."""
    change, split = subject.change, subject.trees.split
    return {
        path: _on_old_code(file, split)
        for path in dict.fromkeys((*split.tests, *split.restored, *split.left_out))
        if (file := change.file(path)) and not (file.is_link or file.unread)
    }


def _by_runs(subject: Subject, runs: CandidateRuns) -> Iterator[tuple[str, Question]]:
    """What runs of the suite, of the lines and of tests from outside say, with the base's judges and the attempt's."""
    trees, before, asked = subject.trees, subject.before, subject.asked
    stood = before.tests() if is_asked("tests", asked.level, asked.mode) else None
    yield (
        "tests",
        TestsCheck(
            runs=runs,
            before=stood,
            parameters=before.parameters() if stood else {},
            may_change=subject.tests_may_change,
            reruns=asked.reruns,
            flaky_at_base=before.flaky,
            is_all=not subject.verify,
            at_base_either=stood is None and not isinstance(before, UnknownBefore),
        ),
    )
    for line in subject.verify:
        on_bench, as_left = (_line(subject, line, tree) for tree in (trees.bench, trees.as_it_is))
        yield (
            "verify",
            LineOnTrees(
                on_bench=on_bench,
                as_left=as_left,
                runs=runs,
                may_change=subject.tests_may_change,
                rule=asked.changed_tests,
            ),
        )
    for check in outside_checks(subject.outside, subject.task, subject.agent, trees.bench.bench, before, asked.runners):
        yield "verify", OnTree(check=check, tree=trees.bench)
    yield (
        "tests",
        ChangedTestsCheck(
            runs=runs,
            change=subject.change,
            before=stood,
            may_change=subject.tests_may_change,
            removal=asks_for_removal(subject.task),
            rule=asked.changed_tests,
            reruns=asked.reruns,
        ),
    )


def _on_old_code(file: ChangedFile, split: Split) -> bytes | None:
    """A changed test file as it is now; of a product file, its examples in the code of the base."""
    if file.path not in split.examples:
        return file.after
    return with_examples_of(file.after or b"", file.before or b"")


def _second_look(subject: Subject, look: SecondLook) -> Iterator[tuple[str, Question]]:
    """Whether what decides could have failed, and what ran beside it."""
    yield "tests", CounterProof(look=look)
    programs = tuple(sorted(programs_in(subject.verify, subject.base_files)))
    for line in subject.verify:
        yield "tests", LineProof(line=line, look=look, judges=programs)
    yield "tests", WithoutRunner(look=look)
    if not look.about_tests:
        yield "tests", UnseenInputs(look=look, task=words_of(subject.task))
        if not subject.by_pattern and (keeps_behaviour(subject.task) or is_about_speed(subject.task)):
            yield "tests", SameAnswers(look=look)
    if any(path.endswith((".go", ".rs")) for path in look.product):
        yield "tests", UnderOtherNames(look=look)
    yield "tests", Audit(look=look, at_base=subject.before.notes(), task=words_of(subject.task))
    yield "tests", OwnTests(look=look)


def _done(subject: Subject, runs: CandidateRuns) -> DoneCheck:
    return DoneCheck(
        change=subject.change,
        runs=runs,
        files=subject.files,
        lines=subject.verify,
        keeps_behaviour=keeps_behaviour(subject.task),
        about_words=is_about_words(subject.task),
        about=about(subject.task),
        changes_nothing=subject.task.changes_nothing,
        about_tests=is_about_tests(subject.task, subject.change, subject.trees.split.tests),
        by_pattern=subject.by_pattern,
        own_tests=subject.asked.own_tests,
    )


def _line(subject: Subject, line: str, tree: Tree) -> VerifyCheck:
    before = subject.before.command(line)
    return VerifyCheck(
        command_line=line,
        bench=tree.bench,
        before=before,
        runners=subject.asked.runners,
        removal=asks_for_removal(subject.task),
    )


def _beyond(subject: Subject) -> Iterator[tuple[str, Question]]:
    """What is asked only of those who ask for it."""
    change, bench, asked = subject.change, subject.bench, subject.asked
    yield "types", TypesCheck(change=change, bench=bench, before=subject.before.type_errors)
    if asked.lint:
        yield "verify", LintCheck(change=change, bench=bench)
    if asked.vulnerabilities:
        yield "verify", VulnerabilitiesCheck(change=change, bench=bench)
    if asked.coverage is not None:
        yield "verify", CoverageCheck(change=change, bench=bench, threshold=asked.coverage)


def verify(
    trees: Trees,
    checks: tuple[Question, ...],
    tree: str,
    redact: Redactor,
    on_check: Callable[[CheckResult], None] | None = None,
    collect_log: Callable[[], str] = str,
) -> Evidence:
    """Run the checks and judge the tree by them; `collect_log` names the log of what was run since it was called last.

    All are run, so that the next attempt learns all that is wrong at once; only a failed look at
    the files or at their syntax ends it early, since there is nothing worth running then.
    """
    results: list[CheckResult] = []
    workspaces = (trees.as_it_is.workspace, trees.bench.workspace)
    for check in checks:
        found = _answer(check, trees.as_it_is.workspace, tuple(results))
        result = _told(replace(found, log_id=collect_log()), redact, workspaces)
        results.append(result)
        if on_check is not None:
            on_check(result)
        if result.outcome == "failed" and isinstance(check, (FilesCheck, SyntaxCheck)):
            break
    return judge(tree, tuple(results))


def _answer(check: Question, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
    """What a check says. One that breaks over what it was shown is not passed: left to itself it would break each time
    that the run is resumed. The machine's own failures are nobody's answer."""
    try:
        return check.run_after(workspace, earlier) if hasattr(check, "run_after") else check.run(workspace)
    except MilepostError:
        raise
    except Exception as problem:
        if isinstance(problem, OSError) and (failure := machine_failure(problem, "a check could not finish")):
            raise failure from problem
        name = type(check).__name__.removesuffix("Check").lower()
        summary = f"the check itself crashed on this change: {type(problem).__name__}: {last_line(str(problem))}"
        log = tail("".join(traceback.format_exception(problem)), LONGEST_TRACEBACK)
        return CheckResult(name=name, outcome="failed", summary=summary, log=log)


def _told(result: CheckResult, redact: Redactor, workspaces: tuple[Workspace, ...]) -> CheckResult:
    """What is kept of an answer: no secret, and paths as they are in the project."""
    places = [
        place
        for one in workspaces
        for place in ((f"{one.folder}/", ""), (str(one.folder), "."), (f"{one.scratch}/", "scratch/"))
    ]

    def plain(text: str) -> str:
        for place, short in places:
            text = text.replace(place, short)
        return redact(text)

    cases = (
        replace(case, id=plain(case.id), message=plain(case.message), traceback=plain(case.traceback))
        for case in result.cases
    )
    return replace(
        result,
        name=plain(result.name),
        summary=plain(result.summary),
        argv=tuple(plain(word) for word in result.argv),
        cases=tuple(cases),
        log=plain(result.log),
        questions=tuple(
            replace(one, text=plain(one.text), before=plain(one.before), after=plain(one.after))
            for one in result.questions
        ),
    )


def _each_once(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries))
