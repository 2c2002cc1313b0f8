"""How things stood at the base of an attempt: each question is asked once for each tree."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.errors import MilepostError
from milepost.core.machine_failure import machine_failure
from milepost.core.ports import Check
from milepost.core.verdict import CheckOutcome, CheckResult, Evidence, TestOutcome
from milepost.engine.records.journal import Journal
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.verify.checks.imports import broken_modules
from milepost.verify.checks.runtime import broken_builds
from milepost.verify.checks.tests import NAME, TestsCheck, find_flaky, outcomes, parameters, ran_to_the_end
from milepost.verify.checks.types import type_errors
from milepost.verify.checks.verify_command import CommandCheck
from milepost.verify.command_runner import Bench

STANDING = "tests with their parameters"
ABOUT = "before the change: failing is no trouble"

Ask = Callable[[Workspace, Bench], Any]


class Baselines:
    """Knows, or finds out, how things stood at a tree.

    Answers are kept for one run: in the next the same tree may stand otherwise, with a package that was
    installed or a service that was started in between, and no task may be credited with that.
    Only an answer that was come to is kept. Where there is none the answer is unknown (None): it is
    not asked for again in this process, and again in the next.
    """

    def __init__(self, journal: Journal, run: str, outfitter: CheckoutEquipper, runners: tuple[str, ...] = ()) -> None:
        self._journal = journal
        self._run = run
        self._outfitter = outfitter
        self._runners = runners
        self._lock = threading.Lock()
        self._asking: dict[tuple[str, str], threading.Lock] = {}
        self._unknown: set[tuple[str, str]] = set()

    def at(self, commit: str, tree: str) -> Baseline:
        """What is known of a commit with this tree."""
        return Baseline(baselines=self, commit=commit, tree=tree)

    def learn(self, evidence: Evidence) -> None:
        """A tree that was verified may be the base of the next: its tests need not be run again."""
        tests = [check for check in evidence.checks if check.name.partition(" ")[0] == NAME]
        if tests and all(ran_to_the_end(check) for check in tests):
            self._journal.keep_answer(evidence.tree, self._asked(STANDING), _standing(*tests))

    def answer(self, commit: str, tree: str, question: str, ask: Ask) -> Any:
        """The answer that is kept, or the one that `ask` comes to in a checkout of the commit."""
        key = (tree, question)
        with self._lock:
            mine = self._asking.setdefault(key, threading.Lock())
        with mine:
            known = self._journal.answer(tree, self._asked(question))
            if known is not None or key in self._unknown:
                return known
            found = self._find_out(commit, key, ask)
            if found is None:
                self._unknown.add(key)
            else:
                self._journal.keep_answer(tree, self._asked(question), found)
            return found

    def _find_out(self, commit: str, key: tuple[str, str], ask: Ask) -> Any:
        """The answer, None where there is none: a question of ours that breaks must not park the run."""
        try:
            with self._checkout(commit, key) as (workspace, bench):
                return ask(workspace, bench)
        except MilepostError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and (failure := machine_failure(error, "the base cannot be looked at")):
                raise failure from error
            return None

    def runners(self) -> tuple[str, ...]:
        return self._runners

    def _asked(self, question: str) -> str:
        return f"{self._run}: {question}"

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

    def parameters(self) -> Mapping[str, str]:
        found = self._standing()
        return {} if found is None else found["parameters"]

    def _standing(self) -> dict[str, Any] | None:
        def ask(workspace: Workspace, bench: Bench) -> dict[str, Any] | None:
            found = TestsCheck(bench=bench, runners=self.baselines.runners()).run(workspace)
            return _standing(found) if ran_to_the_end(found) else None

        found: dict[str, Any] | None = self._answer(STANDING, ask)
        return found

    def flaky(self, ids: tuple[str, ...]) -> frozenset[str]:
        question = "flaky " + " ".join(sorted(ids))
        found = self._answer(
            question,
            lambda workspace, bench: sorted(find_flaky(ids, workspace, bench, runners=self.baselines.runners())),
        )
        return frozenset(found or ())

    def command(self, line: str) -> CheckOutcome | None:
        def ask(workspace: Workspace, bench: Bench) -> CheckOutcome | None:
            found = CommandCheck(command_line=line, bench=bench).run(workspace)
            return found.outcome if found.exit_code is not None else None

        found: CheckOutcome | None = self._answer(f"verify {line}", ask)
        return found

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


def _standing(*tests: CheckResult) -> dict[str, Any]:
    """What is kept of the tests of a tree."""
    return {
        "outcomes": {name: outcome for check in tests for name, outcome in outcomes(check).items()},
        "parameters": {name: told for check in tests for name, told in parameters(check).items()},
    }
