"""How things stood at the base of an attempt: each question is asked once for each tree."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.errors import MilepostError
from milepost.core.machine_failure import machine_failure
from milepost.core.ports import Check
from milepost.core.under_way import under_way
from milepost.core.verdict import CheckOutcome, CheckResult, Evidence, TestCase, TestOutcome
from milepost.engine.records.journal import Journal
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.engine.verification.surroundings import Surroundings
from milepost.verify.checks.changed_tests import NAME as CHANGED
from milepost.verify.checks.environment import NAME as ENVIRONMENT
from milepost.verify.checks.imports import broken_modules
from milepost.verify.checks.runtime import broken_builds
from milepost.verify.checks.tests import NAME, find_flaky, outcomes, parameters, ran_to_the_end, state_of
from milepost.verify.checks.types import type_errors
from milepost.verify.command_runner import Bench
from milepost.verify.judging.paths import CODE, JAVASCRIPT, PYTHON, is_test_name, suffix
from milepost.verify.selection.access_times import watch
from milepost.verify.selection.at_base import LineAtBase, SuiteAtBase, from_json
from milepost.verify.selection.check import VerifyCheck
from milepost.verify.selection.line import read_line
from milepost.verify.selection.observe import look
from milepost.verify.suites.detect import suites
from milepost.verify.suites.suite import AuditNote
from milepost.verify.trees import Tree
from milepost.verify.watched import Watched, judging_code
from milepost.verify.witness.swap import swapped

STANDING = "tests with their parameters, and what ran beside them"
RUNNING = "running the tests as they are before any work"
ABOUT = "before the change: failing is no trouble"

Ask = Callable[[Workspace, Bench], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """An answer, and whether it is one for later runs too."""

    answer: Any
    lasts: bool = True


class Baselines:
    """Knows, or finds out, how things stood at a tree.

    Answers are kept, also for later runs, under the surroundings that they were got in: in others, with a package
    that was installed or a service that was started in between, the same tree may stand otherwise, and no task may
    be credited with that. What was got without all that the project needs is kept for the run alone, and so is an
    answer that says nothing. Where there is none the answer is unknown (None): it is not asked for again in this
    process, and again in the next.
    """

    def __init__(
        self,
        journal: Journal,
        run: str,
        outfitter: CheckoutEquipper,
        runners: tuple[str, ...] = (),
        surroundings: Surroundings | None = None,
    ) -> None:
        self._journal = journal
        self._run = run
        self._surroundings = surroundings if surroundings is not None and surroundings.lasts else None
        self._outfitter = outfitter
        self._runners = runners
        self._lock = threading.Lock()
        self._asking: dict[tuple[str, str], threading.Lock] = {}
        self._why: dict[str, tuple[str, str]] = {}
        self._unknown: set[tuple[str, str]] = set()

    def at(self, commit: str, tree: str) -> Baseline:
        """What is known of a commit with this tree."""
        return Baseline(baselines=self, commit=commit, tree=tree)

    def learn(self, evidence: Evidence, base: str = "") -> None:
        """A tree that was verified may be the base of the next: its tests need not be run again.

        What they open is what they opened at the tree `base` that it was made from: what the attempt itself did to
        access times is not believed.
        """
        as_left = [check for check in evidence.checks if check.name == CHANGED and check.cases]
        tests = as_left or [check for check in evidence.checks if check.name == NAME]
        if tests and all(ran_to_the_end(check) for check in tests):
            known = self.known(base, STANDING) if base else None
            opened = known["opened"] if known else None
            notes = [AuditNote(what=what, path=path) for what, path in known["notes"]] if known else ()
            standing = _standing(*tests, opened=opened, notes=notes)
            lacking = any(check.name == ENVIRONMENT and check.log for check in evidence.checks)
            self._keep(evidence.tree, STANDING, _Found(answer=standing, lasts=not lacking))

    def answer(self, commit: str, tree: str, question: str, ask: Ask) -> Any:
        """The answer that is kept, or the one that `ask` comes to in a checkout of the commit."""
        key = (tree, question)
        with self._lock:
            mine = self._asking.setdefault(key, threading.Lock())
        with mine:
            known = self.known(tree, question)
            if known is not None or key in self._unknown:
                return known
            found = self._find_out(commit, key, ask)
            if found is None:
                self._unknown.add(key)
                return None
            self._keep(tree, question, found)
            return found.answer

    def explain(self, tree: str, why: str, log: str) -> None:
        """Remember why the tests of a tree could not be run, and what they printed."""
        self._why[tree] = (why, log)

    def why(self, tree: str) -> tuple[str, str]:
        return self._why.get(tree, ("", ""))

    def known(self, tree: str, question: str) -> Any:
        """The answer that is kept, if any."""
        known = (self._journal.answer(tree, asked) for asked in reversed(self._asked(question)))
        return next((answer for answer in known if answer is not None), None)

    def _keep(self, tree: str, question: str, found: _Found) -> None:
        asked = self._asked(question)
        lasts = found.lasts and bool(found.answer) and not _is_red(found.answer)
        self._journal.keep_answer(tree, asked[-1] if lasts else asked[0], found.answer)

    def _asked(self, question: str) -> tuple[str, ...]:
        """The question as it is kept: in this run, and in the same surroundings, where that is possible."""
        for_all = () if self._surroundings is None else (f"{self._surroundings.fingerprint}: {question}",)
        return (f"{self._run}: {question}", *for_all)

    def _find_out(self, commit: str, key: tuple[str, str], ask: Ask) -> _Found | None:
        """The answer, None where there is none: a question of ours that breaks must not park the run."""
        try:
            with self._checkout(commit, key) as (workspace, bench):
                answer = ask(workspace, bench)
                return None if answer is None else _Found(answer=answer, lasts=not bench.equipment.problem)
        except MilepostError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and (failure := machine_failure(error, "the base cannot be looked at")):
                raise failure from error
            return None

    def runners(self) -> tuple[str, ...]:
        return self._runners

    @contextmanager
    def _checkout(self, commit: str, key: tuple[str, str]) -> Iterator[tuple[Workspace, Bench]]:
        """A checkout of its own for each question: two may be asked at once."""
        tree, question = key
        name = f"baseline-{tree[:12]}-{hashlib.sha256(question.encode()).hexdigest()[:12]}"
        with self._outfitter.fitted(name, commit) as fitted:
            workspace, bench = fitted
            yield workspace, replace(bench, about=ABOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """How things stood at one base (the port `Before` of the checks)."""

    baselines: Baselines
    commit: str
    tree: str

    def tests(self) -> Mapping[str, TestOutcome] | None:
        found = self._standing()
        return None if found is None else found["outcomes"]

    def messages(self) -> tuple[str, ...]:
        """What the tests that fail there say, as far as it is kept; all that they printed where they could not run."""
        found = self._standing()
        return self.baselines.why(self.tree) if found is None else tuple(found.get("messages", {}).values())

    def why_unknown(self) -> str:
        """Why the tests could not be run there, where that was tried by this process."""
        return self.baselines.why(self.tree)[0]

    def tests_took_s(self) -> float | None:
        """How long the project's tests took there, None where that is not known."""
        took = (self._standing() or {}).get("took_ms")
        return None if took is None else took / 1000

    def parameters(self) -> Mapping[str, str]:
        found = self._standing()
        return {} if found is None else found["parameters"]

    def _standing(self) -> dict[str, Any] | None:
        def ask(workspace: Workspace, bench: Bench) -> dict[str, Any] | None:
            watching = watch(workspace, bench)
            seeing = replace(bench, watched=Watched(tests=judging_code(workspace.folder)))
            with under_way(RUNNING) if suites(workspace.folder, self.baselines.runners()) else nullcontext():
                found, notes = state_of(Tree(workspace=workspace, bench=seeing), self.baselines.runners())
            opened = watching.opened()
            if not ran_to_the_end(found):
                self.baselines.explain(self.tree, found.summary, found.log)
                return None
            return _standing(found, opened=opened, notes=notes)

        found: dict[str, Any] | None = self._answer(STANDING, ask)
        return found

    def notes(self) -> tuple[AuditNote, ...] | None:
        found = self._standing()
        return tuple(AuditNote(what=what, path=path) for what, path in found["notes"]) if found else None

    def tests_with(self, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        tests = tuple(path for path in files if is_test_name(path.rpartition("/")[2]) and suffix(path) in CODE)
        only = tests if all(suffix(path) in PYTHON | JAVASCRIPT for path in tests) else ()

        def ask(workspace: Workspace, bench: Bench) -> dict[str, TestOutcome] | None:
            with swapped(workspace.folder, files):
                found, _ = state_of(Tree(workspace=workspace, bench=bench), self.baselines.runners(), only)
            return outcomes(found) if ran_to_the_end(found) else None

        found: dict[str, TestOutcome] | None = self._answer(f"tests with {_digest(files)}", ask)
        return found

    def line_with(self, line: str, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        before = self.command(line)

        def ask(workspace: Workspace, bench: Bench) -> dict[str, TestOutcome] | None:
            check = VerifyCheck(command_line=line, bench=bench, before=before)
            with swapped(workspace.folder, files):
                found = check.run(workspace)
            if found.outcome == "absent" or not (found.cases or found.exit_code is not None):
                return None
            return outcomes(found) or {line: "passed" if found.outcome == "passed" else "failed"}

        found: dict[str, TestOutcome] | None = self._answer(f"verify line {line} with {_digest(files)}", ask)
        return found

    def flaky(self, ids: tuple[str, ...]) -> frozenset[str]:
        question = "flaky " + " ".join(sorted(ids))
        found = self._answer(
            question,
            lambda workspace, bench: sorted(find_flaky(ids, workspace, bench, runners=self.baselines.runners())),
        )
        return frozenset(found or ())

    def command(self, line: str) -> LineAtBase | None:
        reading = read_line(line)
        whole = reading.is_runner and all(selection.is_whole for selection in reading.selections)
        suite = _suite(self._standing()) if whole else None

        def ask(workspace: Workspace, bench: Bench) -> dict[str, Any] | None:
            found = look(line, workspace, bench, suite, self.baselines.runners())
            return found.to_json() if found.ended or found.cases else None

        found: dict[str, Any] | None = self._answer(f"verify line {line}", ask)
        return None if found is None else from_json(found)

    def answer_of(self, question: str, make: Callable[[Bench], Check]) -> CheckOutcome | None:
        found: CheckOutcome | None = self._answer(question, lambda workspace, bench: make(bench).run(workspace).outcome)
        return found

    def broken_imports(self, modules: tuple[str, ...]) -> frozenset[str]:
        question = "imports " + " ".join(sorted(modules))
        found = self._answer(question, lambda workspace, bench: sorted(broken_modules(modules, workspace, bench)))
        return frozenset(found or ())

    def broken_builds(self, names: tuple[str, ...]) -> frozenset[str]:
        question = "runtime " + " ".join(sorted(names))
        found = self._answer(question, lambda workspace, bench: sorted(broken_builds(names, workspace, bench)))
        return frozenset(found or ())

    def environment(self) -> tuple[str, str] | None:
        def ask(_: Workspace, bench: Bench) -> list[str]:
            return [bench.equipment.lock, bench.equipment.problem]

        found = self._answer("environment", ask)
        return (found[0], found[1]) if found else None

    def type_errors(self) -> frozenset[str] | None:
        def ask(workspace: Workspace, bench: Bench) -> list[str] | None:
            found = type_errors(workspace, bench)
            return None if found is None else sorted(found)

        found = self._answer("types", ask)
        return None if found is None else frozenset(found)

    def _answer(self, question: str, ask: Ask) -> Any:
        return self.baselines.answer(self.commit, self.tree, question, ask)


def _is_red(answer: Any) -> bool:
    """Whether something failed in an answer: what is red now may be green in the next run by no task's doing."""
    if not isinstance(answer, dict):
        return bool(answer == "failed")
    values = answer.get("outcomes", answer)
    return "failed" in (values.values() if isinstance(values, dict) else ())


def _digest(files: Mapping[str, bytes | None]) -> str:
    content = hashlib.sha256()
    for path, held in sorted(files.items()):
        content.update(f"{path} {len(held or b'')} {held is None}\n".encode() + (held or b""))
    return content.hexdigest()


def _standing(
    *tests: CheckResult, opened: Iterable[str] | None = None, notes: Iterable[AuditNote] = ()
) -> dict[str, Any]:
    """What is kept of the tests of a tree; `opened` are the files that they opened, None where that is not known, and
    `notes` what files of the product did meanwhile."""
    failed = [case for check in tests for case in check.cases if case.outcome == "failed"]
    return {
        "outcomes": {name: outcome for check in tests for name, outcome in outcomes(check).items()},
        "parameters": {name: told for check in tests for name, told in parameters(check).items()},
        "messages": {case.id: case.message for case in failed},
        "opened": None if opened is None else list(opened),
        "notes": sorted({(note.what, note.path) for note in notes}),
        "took_ms": sum(check.duration_ms for check in tests),
    }


def _suite(standing: dict[str, Any] | None) -> SuiteAtBase | None:
    if standing is None:
        return None
    cases = (
        TestCase(
            id=name,
            outcome=outcome,
            message=standing["messages"].get(name, ""),
            parameters=standing["parameters"].get(name, ""),
        )
        for name, outcome in standing["outcomes"].items()
    )
    opened = standing["opened"]
    return SuiteAtBase(cases=tuple(cases), opened=None if opened is None else tuple(opened))
