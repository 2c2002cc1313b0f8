"""The check that runs the deciding tests twice more, so that they must fail: without the work, expecting otherwise."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question, TestCase, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.declarations import declares
from milepost.verify.counterproof.languages import alter, language_of, may_expect_any_failure, sabotage
from milepost.verify.counterproof.trial import Files, Trial, passed_in
from milepost.verify.suites.detect import suites
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.watched import Watched, judging_code
from milepost.verify.witness.guest.other import UNKNOWN
from milepost.verify.witness.guest.watch import STARTS
from milepost.verify.witness.swap import read_plainly

NAME = "counter-proof"
ABOUT = "counter-proof: failing is what is wanted"
MOST_DECIDING = 50
_EQUALS = "with other values in the objects that it builds to compare with. Is the equality of the product right?"
OTHERS = 5
MOST_QUESTIONS = 5
SHORTEST_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterProofCheck:
    """Asks whether the tests that passed could have failed.

    `product` are the changed files of the product. `seed` draws the tests that are tried beside those that decide;
    `runners` are those that are used, all when empty.
    """

    bench: Bench
    change: Change
    product: tuple[str, ...]
    seed: str = ""
    runners: tuple[str, ...] = ()

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        """Try the tests that `earlier` checks reported as passed."""
        chosen = choose(earlier, self.seed or workspace.base)
        if not chosen.ids:
            return CheckResult(name=NAME, outcome="absent", summary="no test passed that could be tried")
        watched = Watched(
            tests=tuple(path for path in judging_code(workspace.folder) if path not in self.product),
            changed=self.product,
        ).with_names()
        longest = max((check.duration_ms for check in earlier), default=0) / 1000
        timeout_s = min(self.bench.timeout_s, max(SHORTEST_TIMEOUT_S, 5 * longest))
        bench = replace(self.bench, timeout_s=timeout_s, about=ABOUT, watched=watched)
        found = suites(workspace.folder, self.runners)
        trial = _MustFail(trial=Trial(workspace=workspace, bench=bench, suites=found), watched=watched)
        without = trial.without_work(self.product, chosen.deciding)
        otherwise = trial.with_other_expectations(chosen.ids)
        outside = any(declares(file) for file in self.change.files if file.path in self.product)
        built = trial.with_other_objects(otherwise.unknown, self.product)
        told = judged(chosen, without, otherwise, built, declares_outside=outside)
        return _with_runs(told, (*without.runs, *otherwise.runs, *built.runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The tests to try, and how each ended at the base."""

    deciding: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    before: Mapping[str, TestOutcome | None] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        return (*self.deciding, *self.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """Tests that must fail, and those that passed, each time that they were run.

    `unknown` are those that nothing is known of: what they expect has no other value that differs.
    """

    ids: frozenset[str] = frozenset()
    green: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    runs: tuple[SuiteRun, ...] = ()


def choose(earlier: Iterable[CheckResult], seed: str) -> Chosen:
    """The tests that passed and did not before, and a few of the others, drawn by `seed`."""
    passed: dict[str, TestCase] = {}
    for check in earlier:
        known = (case for case in check.cases if "::" in case.id and language_of(case.id.partition("::")[0]))
        passed.update({case.id: case for case in known if case.outcome == "passed"})
    drawn = sorted(passed.values(), key=lambda case: hashlib.sha256(f"{seed} {case.id}".encode()).digest())
    deciding = [case.id for case in drawn if case.before == "failed"]
    deciding += [case.id for case in drawn if case.before not in ("failed", "passed")]
    others = [case.id for case in drawn if case.before == "passed"]
    return Chosen(
        deciding=tuple(deciding[:MOST_DECIDING]),
        others=tuple(others[:OTHERS]),
        before={case.id: case.before for case in drawn},
    )


def judged(
    chosen: Chosen,
    without: TrialOutcome,
    otherwise: TrialOutcome,
    built: TrialOutcome = TrialOutcome(),  # noqa: B008 -- a value
    *,
    declares_outside: bool,
) -> CheckResult:
    """What the trials came to.

    A test that passes without the work, but not with other expectations, may be about what the change declares outside
    of functions; or, where it could not be run at the base at all, about what was there before.
    """
    red = otherwise.ids - otherwise.green
    partly = bool(without.ids - without.green)
    explained = {
        id_
        for id_ in without.green - otherwise.green
        if (declares_outside and id_ in red) or (partly and chosen.before.get(id_) is None)
    }
    stale = sorted(without.green - explained)
    fits_all = sorted(otherwise.green)
    deciding = otherwise.ids.intersection(chosen.deciding)
    if fits_all and deciding <= otherwise.green and deciding:
        return _result("failed", f"{_pass(fits_all)} whatever is expected: {listed(tuple(fits_all))}")
    if stale and len(stale) == len(without.ids):
        return _result("failed", f"{_pass(stale)} with the work taken out: {listed(tuple(stale))}")
    questions = [_question(id_, "passes whatever it expects: what it expects was replaced") for id_ in fits_all]
    questions += [_question(id_, "passes with the work taken out of the changed files") for id_ in stale]
    questions += [_question(id_, f"passes whatever is expected: {_EQUALS}") for id_ in sorted(built.green)]
    if questions:
        odd = (*fits_all, *stale)
        summary = f"{_pass(sorted({*odd}))} though made to fail: {listed(odd)}"
        if not odd:
            summary = f"{_pass(sorted(built.green))} whatever is expected: {listed(tuple(sorted(built.green)))}"
        return replace(_result("held", summary), questions=tuple(questions[:MOST_QUESTIONS]))
    red |= built.ids
    if not without.ids and not red:
        why = next((run.problem for run in otherwise.runs if run.problem), "none of their expectations can be replaced")
        return _result("absent", f"nothing could be tried: {why}")
    ways = []
    if without.ids:
        ways.append(f"{_fail(without.ids - without.green)} with the work taken out")
    if red:
        ways.append(f"{_fail(red)} with other expectations")
    return _result("passed", f"{', '.join(ways)}: as they must")


@dataclass(frozen=True, slots=True, kw_only=True)
class _MustFail:
    """Runs tests that must fail, with files that find the witness's functions by the names in `watched`."""

    trial: Trial
    watched: Watched

    def without_work(self, product: tuple[str, ...], ids: tuple[str, ...]) -> TrialOutcome:
        """Of tests that start programs only those count that fail: nothing may be taken out of what they start."""
        files: dict[str, bytes | None] = {}
        for path in product:
            source = read_plainly(self.trial.workspace.folder, path)
            changed = sabotage(path, source, self.watched.trip) if source is not None else None
            if changed is not None:
                files[path] = changed
        languages = {language_of(path) for path in files}
        content = frozenset[str]()
        for path, inside in by_file(ids).items():
            content |= may_expect_any_failure(path, read_plainly(self.trial.workspace.folder, path) or b"", inside)
        wanted = tuple(id_ for id_ in ids if language_of(id_.partition("::")[0]) in languages and id_ not in content)
        tried = self._tried(files, wanted)
        starting = {note.path for run in tried.runs for note in run.notes if note.what == STARTS}
        elsewhere = {id_ for id_ in tried.green if id_.partition("::")[0] in starting}
        return replace(tried, ids=tried.ids - elsewhere, green=tried.green - elsewhere)

    def with_other_expectations(self, ids: tuple[str, ...]) -> TrialOutcome:
        """All expectations of each test at once, and then the last of those that have several."""
        everything = self._expecting(ids, last=False)
        last = self._expecting(ids, last=True)
        return TrialOutcome(
            ids=everything.ids | last.ids,
            green=everything.green | last.green,
            unknown=everything.unknown | last.unknown,
            runs=(*everything.runs, *last.runs),
        )

    def with_other_objects(self, ids: frozenset[str], product: tuple[str, ...]) -> TrialOutcome:
        """Other values in all objects of the product that the tests build to compare with; what passes, twice drawn."""
        if not product:
            return TrialOutcome()
        first = self._expecting(tuple(sorted(ids)), product=product)
        again = self._expecting(tuple(sorted(first.green)), product=product, seed=self.watched.seed[::-1])
        return replace(first, green=again.green, runs=(*first.runs, *again.runs))

    def _expecting(
        self, ids: tuple[str, ...], *, last: bool = False, product: tuple[str, ...] = (), seed: str = ""
    ) -> TrialOutcome:
        files: dict[str, bytes | None] = {}
        wanted: list[str] = []
        for path, inside in by_file(ids).items():
            source = read_plainly(self.trial.workspace.folder, path)
            found = alter(
                path, source or b"", inside, self.watched.other, seed or self.watched.seed, last=last, product=product
            )
            if found is not None:
                files[path] = found.source
                wanted += [id_ for id_ in inside if id_ in found.ids]
        return self._tried(files, tuple(wanted))

    def _tried(self, files: Files, ids: tuple[str, ...]) -> TrialOutcome:
        """Run the tests; those that pass are run once more, as an accusation must not come from a flaky test."""
        if not files or not ids:
            return TrialOutcome()
        first = self.trial.run(files, ids)
        green = tuple(passed_in(first, ids))
        again = self.trial.run(files, green) if green else ()
        unknown = {case.id for run in first for case in run.cases if UNKNOWN in case.message + case.traceback}
        seen = {case.id for run in first for case in run.cases} | {run.problem for run in first if run.problem}
        return TrialOutcome(
            ids=frozenset(id_ for id_ in ids if id_ not in unknown) if seen else frozenset(),
            green=passed_in(again, green),
            unknown=frozenset(unknown.intersection(ids)),
            runs=(*first, *again),
        )


def by_file(ids: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for id_ in ids:
        found[id_.partition("::")[0]].append(id_)
    return found


def _question(id_: str, text: str) -> Question:
    return Question(kind="counter-proof", text=f"{id_} {text}", path=id_.partition("::")[0])


def _pass(ids: list[str]) -> str:
    return "1 test passes" if len(ids) == 1 else f"{len(ids)} tests pass"


def _fail(ids: frozenset[str]) -> str:
    return "1 test fails" if len(ids) == 1 else f"{len(ids)} tests fail"


def _result(outcome: str, summary: str) -> CheckResult:
    return CheckResult(name=NAME, outcome=outcome, summary=summary)  # type: ignore[arg-type]


def _with_runs(told: CheckResult, found: tuple[SuiteRun, ...]) -> CheckResult:
    first = next(iter(found), None)
    return replace(
        told,
        argv=first.argv if first else (),
        exit_code=first.exit_code if first else None,
        log="\n".join(run.log for run in found if run.problem)[-8_000:],
        duration_ms=sum(run.duration_ms for run in found),
        enforced=first.enforced if first else (),
        environment=first.environment if first else "",
    )
