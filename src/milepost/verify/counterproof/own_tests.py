"""The check of how strong the tests are that an attempt brought itself: how many mutants of its lines they catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.basis import BY_OWN_TESTS
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.languages import language_of
from milepost.verify.counterproof.mutants import MOST, Mutant, mutants_in, mutants_of, without_statements
from milepost.verify.counterproof.tests_alone import TestsAlone, tests_alone
from milepost.verify.counterproof.trial import Trial, passed_in
from milepost.verify.own_tests import OwnWork
from milepost.verify.suites.detect import suites

NAME = "own tests"
ABOUT = "own tests on mutants: failing is what is wanted"
SHORTEST_TIMEOUT_S = 20.0
MOST_BY_LINE = 6
MOST_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How many of the mutants that were tried are caught; `missed` are those that were not."""

    caught: int
    tried: int
    missed: tuple[Mutant, ...] = ()

    @property
    def is_weak(self) -> bool:
        """Fewer than half."""
        return 2 * self.caught < self.tried


def strength_of(mutants: tuple[Mutant, ...], passes: Callable[[Mutant], bool]) -> Strength:
    """Try mutants, until more cannot change whether at least half are caught.

    A mutant is caught when what `passes` on the work does not pass on it, for what reason ever.
    """
    caught, tried = 0, 0
    missed: list[Mutant] = []
    for mutant in mutants:
        if 2 * caught >= len(mutants) or 2 * (caught + len(mutants) - tried) < len(mutants):
            break
        tried += 1
        if passes(mutant):
            missed.append(mutant)
        else:
            caught += 1
    return Strength(caught=caught, tried=tried, missed=tuple(missed))


def own_tests_check(
    change: Change,
    product: tuple[str, ...],
    own: OwnWork,
    workspace: Workspace,
    bench: Bench,
    *,
    took_s: float = 0.0,
    runners: tuple[str, ...] = (),
    about_tests: bool = False,
) -> CheckResult:
    """Whether what the attempt wrote, and what passes on it, notices faults in the changed `product`.

    Where the task is `about_tests` it is faults in what they run of the product, which stayed as it was. A mutant that
    never ends is caught by the time limit, a multiple of what the tests took.
    """
    known = tuple(id_ for id_ in (*own.ids, *own.beside) if language_of(id_.partition("::")[0]))
    timeout_s = min(bench.timeout_s, max(SHORTEST_TIMEOUT_S, 5 * took_s))
    quick = replace(bench, timeout_s=timeout_s, about=ABOUT, watched=None)
    trial = Trial(workspace=workspace, bench=quick, suites=suites(workspace.folder, runners))
    lines = "lines that they run" if about_tests else "changed lines"
    if about_tests:
        alone = tests_alone(trial, known, product) if known else TestsAlone()
        if alone.by_code:
            return _of_code(alone.by_code)
        mutants = mutants_in(alone.lines, alone.sources)
    else:
        mutants = mutants_of(change, product, MOST if own.ids else MOST_BY_LINE) if known or own.lines else ()
    if own.lines and not mutants:
        mutants = without_statements(change, product, MOST_BY_LINE)
    if not mutants:
        return _of_unknown_strength(own, f"no mutant could be made of the {lines}" if known or own.lines else "")

    def passes(mutant: Mutant) -> bool:
        files = {mutant.path: mutant.source}
        if known:
            return passed_in(trial.run(files, known), known) >= frozenset(known)
        return all(trial.command_passes(files, line) for line in own.lines)

    strength = strength_of(mutants, passes)
    summary = f"{BY_OWN_TESTS}, which catch {strength.caught} of {strength.tried} faults put into the {lines}"
    if not strength.is_weak:
        return CheckResult(name=NAME, outcome="passed", summary=summary)
    places = ", ".join(f"{each.what} in {each.path}:{each.line}" for each in strength.missed[:MOST_PLACES])
    first = strength.missed[0]
    question = Question(kind="own tests", text=f"{summary}; not noticed: {places}", path=first.path, line=first.line)
    return CheckResult(name=NAME, outcome="held", summary=summary, questions=(question,))


def _of_code(ids: tuple[str, ...]) -> CheckResult:
    said = f"{BY_OWN_TESTS}, which fail when the source does the same and is only written differently"
    text = f"{listed(ids)}: {said}. Do they look at what the product does?"
    question = Question(kind="own tests", text=text, path=ids[0].partition("::")[0])
    return CheckResult(name=NAME, outcome="held", summary=said, questions=(question,))


def _of_unknown_strength(own: OwnWork, why: str) -> CheckResult:
    """Tests that were seen count all the same; of a command that ends otherwise than before a person is asked."""
    said = f"{BY_OWN_TESTS}, strength not known: {why or 'for tests of this language'}"
    if not own.lines:
        return CheckResult(name=NAME, outcome="absent", summary=said)
    text = f"{listed(own.named)} fails without the work and passes with it, {said}"
    return CheckResult(name=NAME, outcome="held", summary=text, questions=(Question(kind="own tests", text=text),))
