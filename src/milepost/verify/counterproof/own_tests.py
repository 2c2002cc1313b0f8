"""The check of how strong the tests are that an attempt brought itself: how many mutants of its lines they catch."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.basis import BY_OWN_TESTS
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.languages import language_of
from milepost.verify.counterproof.mutants import MOST, Mutant, mutants_of
from milepost.verify.counterproof.trial import Trial, passed_in
from milepost.verify.suites.detect import suites

NAME = "own tests"
ABOUT = "own tests on mutants: failing is what is wanted"
SHORTEST_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How many of the mutants that were tried are caught; `missed` is the first that was not."""

    caught: int
    tried: int
    missed: Mutant | None = None

    @property
    def is_weak(self) -> bool:
        """Fewer than half."""
        return 2 * self.caught < self.tried


def strength_of(
    mutants: tuple[Mutant, ...],
    ids: tuple[str, ...],
    workspace: Workspace,
    bench: Bench,
    *,
    took_s: float = 0.0,
    runners: tuple[str, ...] = (),
) -> Strength:
    """Run the tests on each mutant, until more cannot change whether at least half are caught.

    A mutant is caught when one of the tests that pass on the work does not pass on it, for what reason ever: one that
    never ends is caught by the time limit, a multiple of what the tests took.
    """
    timeout_s = min(bench.timeout_s, max(SHORTEST_TIMEOUT_S, 5 * took_s))
    quick = replace(bench, timeout_s=timeout_s, about=ABOUT, watched=None)
    trial = Trial(workspace=workspace, bench=quick, suites=suites(workspace.folder, runners))
    caught, tried = 0, 0
    missed: Mutant | None = None
    for mutant in mutants:
        if 2 * caught >= len(mutants) or 2 * (caught + len(mutants) - tried) < len(mutants):
            break
        found = trial.run({mutant.path: mutant.source}, ids)
        tried += 1
        if passed_in(found, ids) >= frozenset(ids):
            missed = missed or mutant
        else:
            caught += 1
    return Strength(caught=caught, tried=tried, missed=missed)


def own_tests_check(
    change: Change,
    product: tuple[str, ...],
    ids: tuple[str, ...],
    workspace: Workspace,
    bench: Bench,
    *,
    took_s: float = 0.0,
    runners: tuple[str, ...] = (),
    most: int = MOST,
) -> CheckResult:
    """Whether tests `ids`, which the attempt wrote and which pass on it, notice faults in the changed `product`."""
    known = tuple(id_ for id_ in ids if language_of(id_.partition("::")[0]))
    mutants = mutants_of(change, product, most)
    if not known or not mutants:
        why = "no mutant could be made of the changed lines" if known else "for tests of this language"
        return CheckResult(name=NAME, outcome="absent", summary=f"{BY_OWN_TESTS}, strength not known: {why}")
    strength = strength_of(mutants, known, workspace, bench, took_s=took_s, runners=runners)
    summary = f"{BY_OWN_TESTS}, which catch {strength.caught} of {strength.tried} faults put into the changed lines"
    if not strength.is_weak:
        return CheckResult(name=NAME, outcome="passed", summary=summary)
    missed = strength.missed
    where = f"; not noticed: {missed.what} in {missed.path}:{missed.line}" if missed is not None else ""
    question = Question(
        kind="own tests",
        text=f"{summary}{where}",
        path=missed.path if missed is not None else "",
        line=missed.line if missed is not None else 0,
    )
    return CheckResult(name=NAME, outcome="held", summary=summary, questions=(question,))
