"""Putting a candidate to the question: a clean checkout, the project's own environment, the checks, the verdict."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.errors import MilepostError
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence
from milepost.engine.records.check_logs import LoggingTerminal
from milepost.engine.records.run_spec import Candidate
from milepost.engine.verification.baseline import Baseline, Baselines
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.engine.verification.kept_tests import KeptTests
from milepost.engine.verification.review import OpinionCheck, Reviewer
from milepost.repair.recipes.recipe import Correction
from milepost.repair.recipes.wrong_path import corrected as put_right
from milepost.sources.diff import added_lines
from milepost.verify.command_runner import allowed_s
from milepost.verify.confidence import confidence, coverage_told
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.judging.docs_only import needs_suite
from milepost.verify.judging.examples import files_with_examples
from milepost.verify.judging.layout import BaseFacts, is_checking
from milepost.verify.judging.line_words import programs_in, subjects_in, work_named_in
from milepost.verify.judging.paths import CODE, suffix
from milepost.verify.judging.split import Split, split
from milepost.verify.laid_tests import Material
from milepost.verify.levels import Mode
from milepost.verify.outside_tests import OutsideTests
from milepost.verify.trees import Tree, Trees
from milepost.verify.verify import Question, Subject, VerificationScope, checks_for, files_of, lines_of, verify
from milepost.workspace.mileposts import Mileposts

OnCheck = Callable[[CheckResult], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """Finds out whether a candidate does what its task asks for. Used by several threads at once."""

    mileposts: Mileposts
    outfitter: CheckoutEquipper
    baselines: Baselines
    asked: VerificationScope
    redact: Redactor
    logging: LoggingTerminal
    reviewer: Reviewer | None
    ahead: ThreadPoolExecutor
    hidden: Material = field(default_factory=Material)
    kept_tests: KeptTests | None = None

    def examine(self, task: Task, candidate: Candidate, roadmap: str, name: str, on_check: OnCheck) -> Evidence:
        """The evidence for a candidate; `name` is that of the checkout it is examined in."""
        task = corrected(task, candidate.corrections)
        change = self.mileposts.change(candidate.base, candidate.tree, without=roadmap)
        before = self._before(candidate.base)
        there = frozenset(self.mileposts.blobs_at(candidate.base))
        parts = self._split(task, change, before, there)
        with ExitStack() as checkouts:
            trees = self._trees(checkouts, candidate, name, parts, before)
            subject = Subject(
                tree=candidate.tree,
                task=task,
                change=change,
                agent=candidate.agent,
                trees=trees,
                base_files=there,
                before=before,
                asked=self.asked,
                outside=self._outside(task),
            )
            checks = _made(subject)
            if self.reviewer is not None:
                checks = (*checks, _opinion(self.reviewer, task, change, candidate))
            self.logging.forget()
            evidence = verify(trees, checks, candidate.tree, self.redact, on_check, self.logging.collect)
        self.baselines.learn(evidence, base=before.tree)
        return replace(
            evidence,
            confidence=_confidence(evidence, candidate, change),
            from_base=(
                *(path for path in (*parts.restored, *parts.uncertain) if path in there or path in parts.restored),
                *(f"{path} (its examples)" if path in parts.examples else path for path in parts.merged),
            ),
            left_out=(*parts.left_out, *(path for path in parts.uncertain if path not in there)),
        )

    def _split(self, task: Task, change: Change, before: Baseline, there: frozenset[str]) -> Split:
        """Which files of the change judge; of a change that is no task's, none: it is the user's own."""
        if not task.id or self.asked.mode is Mode.SKIP or not (lines_of(task) or needs_suite(change)):
            return Split()
        tests = before.tests() or {}
        lines = [found for line in lines_of(task) if (found := before.command(line)) is not None]
        in_lines = [case.id for found in lines for case in found.cases]
        examples = files_with_examples((*tests, *in_lines))
        texts = (name for name in map(file_of, in_lines) if suffix(name) not in CODE)
        facts = BaseFacts(
            files=there,
            test_files=(frozenset(map(file_of, tests)) | (there & frozenset(texts))) - examples,
            examples=examples,
            opened=frozenset(path for found in lines for path in found.opened),
            programs=programs_in(lines_of(task), there),
        )
        named = [name for part in task.walk() for name in work_named_in(part.title, facts.programs)]
        works = (name for name in named if not is_checking(name))
        return split(change, (*files_of(task), *subjects_in(lines_of(task), there), *works), facts)

    def _trees(self, checkouts: ExitStack, candidate: Candidate, name: str, parts: Split, before: Baseline) -> Trees:
        """Checkouts of the candidate as it is and, where it touches what judges, of the bench tree."""
        workspace, bench = checkouts.enter_context(self.outfitter.fitted(name, candidate.base, tree=candidate.tree))
        took_s = before.tests_took_s()
        limit_s = bench.timeout_s if took_s is None else min(bench.timeout_s, allowed_s(took_s))
        as_it_is = Tree(workspace=workspace, bench=replace(bench, timeout_s=limit_s))
        tree = self.mileposts.bench_tree(
            candidate.base,
            candidate.tree,
            restored=parts.restored,
            left_out=(*parts.left_out, *parts.uncertain),
            merged=parts.merged,
        )
        if tree == candidate.tree:
            return Trees(as_it_is=as_it_is, bench=as_it_is, split=parts)
        fitted = self.outfitter.fitted(f"{name}-bench", candidate.base, tree=tree)
        workspace, bench = checkouts.enter_context(fitted)
        return Trees(
            as_it_is=as_it_is, bench=Tree(workspace=workspace, bench=replace(bench, timeout_s=limit_s)), split=parts
        )

    def look_ahead(self, base: str, task: Task) -> None:
        """Ask in the background how things stand at a base, while an agent is at work on it."""

        def ask(before: Baseline) -> None:
            with suppress(Exception):  # whoever needs the answer asks again, and hears what is wrong
                before.tests()
                for line in (line for part in task.walk() for line in part.verify):
                    before.command(line)
            self.logging.forget()

        if self.asked.mode is not Mode.SKIP:
            self.ahead.submit(ask, self._before(base))

    def _outside(self, task: Task) -> OutsideTests:
        """The tests of a task that nobody who works on it has seen."""
        written = self.kept_tests.of(task.id) if self.kept_tests is not None else None
        return OutsideTests(hidden=self.hidden, independent=written)

    def _before(self, base: str) -> Baseline:
        return self.baselines.at(base, self.mileposts.tree_of(base))


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Stands in for checks that could not be made, which is our mistake and must not park the run."""

    error: Exception

    def run(self, workspace: Workspace) -> CheckResult:
        said = "".join(traceback.format_exception(self.error))
        summary = f"milepost could not read this change: {type(self.error).__name__}: {self.error}"
        return CheckResult(name="checks", outcome="failed", summary=summary, log=said)


def _opinion(reviewer: Reviewer, task: Task, change: Change, candidate: Candidate) -> OpinionCheck:
    return OpinionCheck(reviewer=reviewer, task=task, change=change, attempt=candidate.attempt, tree=candidate.tree)


def _made(subject: Subject) -> tuple[Question, ...]:
    try:
        return checks_for(subject)
    except MilepostError:
        raise
    except Exception as error:
        return (Broken(error=error),)


def corrected(task: Task, corrections: tuple[tuple[str, str], ...]) -> Task:
    """The task with the paths that its author got wrong put right."""
    for wrong, right in corrections:
        task = put_right(task, Correction(what="", path_named=wrong, path_found=right))
    return task


def _confidence(evidence: Evidence, candidate: Candidate, change: Change) -> float:
    added = (added_lines(file.text_before, file.text_after) for file in change.files)
    lines = sum(map(len, added))
    return confidence(
        evidence,
        attempts=candidate.attempt,
        changed_lines=lines,
        coverage=coverage_told(evidence),
        doubts=candidate.doubts,
    )
