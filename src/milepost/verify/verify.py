"""Which checks a candidate gets, and what they add up to."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.errors import MilepostError
from milepost.core.machine_failure import machine_failure
from milepost.core.ports import Check
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, judge
from milepost.verify.baseline_port import Before, UnknownBefore
from milepost.verify.checks.agreement import AgreementCheck
from milepost.verify.checks.coverage import CoverageCheck
from milepost.verify.checks.does_anything import has_substance
from milepost.verify.checks.environment import EnvironmentCheck
from milepost.verify.checks.files import FilesCheck
from milepost.verify.checks.imports import ImportsCheck
from milepost.verify.checks.lint import LintCheck
from milepost.verify.checks.originals import OriginalsCheck
from milepost.verify.checks.runtime import RuntimeCheck
from milepost.verify.checks.scope import ScopeCheck
from milepost.verify.checks.secrets import SecretsCheck
from milepost.verify.checks.stubs import StubsCheck
from milepost.verify.checks.syntax import SyntaxCheck
from milepost.verify.checks.tests import TestsCheck
from milepost.verify.checks.types import TypesCheck
from milepost.verify.checks.verify_command import CommandCheck
from milepost.verify.command_runner import Bench, last_line, tail
from milepost.verify.guard.check import GuardCheck
from milepost.verify.levels import Level, Mode, is_asked
from milepost.verify.outside_tests import OutsideTests, outside_checks
from milepost.verify.witness.twins import TwinsCheck

LONGEST_TRACEBACK = 2_000


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
    coverage: float | None = None
    most_files: int = 0
    largest_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is put to the question: the change of a task, who made it, the tree, and how things stood before."""

    tree: str
    task: Task
    change: Change
    agent: str
    bench: Bench
    before: Before = field(default_factory=UnknownBefore)
    asked: VerificationScope = field(default_factory=VerificationScope)
    outside: OutsideTests = field(default_factory=OutsideTests)

    @property
    def by_pattern(self) -> bool:
        """Whether no model had a hand in it, so that tests it brings are not its author's own word."""
        return (self.agent or self.task.agent).startswith("pattern:")

    @property
    def tests_may_change(self) -> bool:
        return any(part.tests_may_change for part in self.task.walk())

    @property
    def files(self) -> tuple[str, ...]:
        return _each_once(file for part in self.task.walk() for file in part.files)

    @property
    def verify(self) -> tuple[str, ...]:
        return _each_once(line for part in self.task.walk() for line in part.verify)


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
    yield "guard", GuardCheck(change=change, task=task)
    yield "stubs", StubsCheck(change=change, task=task)


def _of_the_project(subject: Subject) -> Iterator[tuple[str, Question]]:
    """Whether it still parses, imports and builds."""
    change, bench, before = subject.change, subject.bench, subject.before
    known = before.environment() if bench.equipment.problem else None
    yield "environment", EnvironmentCheck(bench=bench, before=known)
    yield "syntax", SyntaxCheck(change=change, bench=bench, expected=subject.files)
    yield "imports", ImportsCheck(change=change, bench=bench, before=before.broken_imports)
    yield "runtime", RuntimeCheck(change=change, bench=bench, before=before.broken_builds)


def _of_the_tests(subject: Subject) -> Iterator[tuple[str, Question]]:
    """Whether the tests hold, as they are and as they were, and whether they can fail at all."""
    change, bench, before, asked = subject.change, subject.bench, subject.before, subject.asked
    may_change, runners = subject.tests_may_change, asked.runners
    stood = before.tests() if is_asked("tests", asked.level, asked.mode) else None
    parameters = before.parameters() if stood else {}
    yield (
        "tests",
        TestsCheck(
            bench=bench,
            before=stood,
            parameters=parameters,
            new_tests_count=subject.by_pattern,
            may_change=may_change,
            reruns=asked.reruns,
            flaky_at_base=before.flaky,
            runners=runners,
            is_all=not subject.verify,
            at_base_either=stood is None and not isinstance(before, UnknownBefore),
        ),
    )
    nothing_to_do = subject.task.changes_nothing and not change.files
    substance = nothing_to_do or has_substance(change, subject.files)
    for line in subject.verify:
        yield "verify", CommandCheck(command_line=line, bench=bench, before=before.command(line), substance=substance)
    for check in outside_checks(subject.outside, subject.task, subject.agent, bench, before, runners):
        yield "verify", check
    yield "tests", AgreementCheck(bench=bench)
    yield (
        "tests",
        OriginalsCheck(
            change=change, bench=bench, before=stood, parameters=parameters, may_change=may_change, runners=runners
        ),
    )
    yield "tests", TwinsCheck(bench=bench, seed=subject.tree, runners=runners)


def _beyond(subject: Subject) -> Iterator[tuple[str, Question]]:
    """What is asked only of those who ask for it."""
    change, bench, asked = subject.change, subject.bench, subject.asked
    yield "types", TypesCheck(change=change, bench=bench, before=subject.before.type_errors)
    if asked.lint:
        yield "verify", LintCheck(change=change, bench=bench)
    if asked.coverage is not None:
        yield "verify", CoverageCheck(change=change, bench=bench, threshold=asked.coverage)


def verify(
    workspace: Workspace,
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
    for check in checks:
        found = _answer(check, workspace, tuple(results))
        result = _told(replace(found, log_id=collect_log()), redact, workspace)
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


def _told(result: CheckResult, redact: Redactor, workspace: Workspace) -> CheckResult:
    """What is kept of an answer: no secret, and paths as they are in the project."""
    places = ((f"{workspace.folder}/", ""), (str(workspace.folder), "."), (f"{workspace.scratch}/", "scratch/"))

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
    )


def _each_once(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries))
