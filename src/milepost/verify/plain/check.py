"""The check that runs the deciding tests once more as a plain program, without a test runner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.core.verdict import CheckOutcome, CheckResult, Question, TestCase
from milepost.verify.checks.files import listed
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.judging.paths import PYTHON, suffix
from milepost.verify.plain.run import ENDED, PlainProgram, PlainRun
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.trees import Tree

NAME = "counter-proof"
WITHOUT = "without a test runner: "
ABOUT = "counter-proof: the deciding tests without a test runner"
MOST_DECIDING = 30
MOST_CONTROLS = 5
MOST_QUESTIONS = 5
SHORTEST_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRunCheck:
    """Asks whether the tests that decide also pass where nothing looks like a test run.

    They are those that pass now and did not at the base, in the checks before this one, and the ids in `own`: tests
    that the attempt brought. Beside them a few tests of the same files are run that passed at the base, too: where one
    of these fails, the file needs its runner, and says nothing.
    """

    runs: CandidateRuns
    own: tuple[str, ...] = ()

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        longest = max((check.duration_ms for check in earlier), default=0) / 1000
        tried = [self._try(program, units) for program, units in self._programs(earlier, longest)]
        told = judged(tried)
        first = next((one.result for one in tried if one.result is not None), None)
        return replace(told, enforced=first.enforced) if first is not None else told

    def _programs(
        self, earlier: tuple[CheckResult, ...], longest_s: float
    ) -> Iterator[tuple[PlainProgram, tuple[Unit, ...]]]:
        """The files that hold deciding tests, each with these and its controls."""
        trees = self.runs.trees
        tests = frozenset(file_of(case.id) for check in earlier for case in check.cases) | {
            *map(file_of, self.runs.now)
        }
        left = MOST_DECIDING
        for tree, cases in ((trees.bench, self._of_base(earlier)), (trees.as_it_is, self._brought())):
            bench = replace(tree.bench, about=ABOUT, timeout_s=min(tree.bench.timeout_s, _limit(longest_s)))
            place = Tree(workspace=tree.workspace, bench=bench)
            for path, units in _by_file(cases).items():
                program = PlainProgram(tree=place, path=path, folder=self._folder_of(path), tests=tests)
                names = program.plain().names if program.language == "Python" else None
                plain = [unit for unit in units if names is None or unit.place in names]
                deciding = [unit for unit in plain if unit.decides][:left]
                if program.language and any(unit.decides for unit in units) and (deciding or not plain):
                    left -= len(deciding)
                    controls = [unit for unit in plain if not unit.decides][:MOST_CONTROLS]
                    yield program, (*controls, *deciding)  # what leaves the process has no say about what ran before

    def _of_base(self, earlier: tuple[CheckResult, ...]) -> tuple[TestCase, ...]:
        found: dict[str, TestCase] = {}
        for check in earlier:
            if check.name in ("tests", "verify"):
                found.update({case.id: case for case in check.cases if case.id not in self.own and "::" in case.id})
        return tuple(found.values())

    def _brought(self) -> tuple[TestCase, ...]:
        """The attempt's own tests, and those of the same files that pass on the source of the base as well."""
        if not self.own:
            return ()
        files = {file_of(name) for name in self.own}
        old = self.runs.on_old_source or {}
        cases = (case for case in self.runs.now.values() if file_of(case.id) in files and "::" in case.id)
        return tuple(
            replace(case, before=None if case.id in self.own else "passed")
            for case in cases
            if case.id in self.own or old.get(case.id) == "passed"
        )

    def _folder_of(self, path: str) -> str:
        """The folder of the suite that ran a file."""
        for suite, run in (*self.runs.on_bench, *self.runs.as_they_are):
            if any(file_of(case.id) == path for case in run.cases):
                return suite.folder
        return ""

    def _try(self, program: PlainProgram, units: tuple[Unit, ...]) -> Tried:
        """Run the tests; those that fail are run once more, as an accusation must not come from a flaky test."""
        if not units:
            return Tried(path=program.path, problem=program.plain().problem or "its tests take fixtures from elsewhere")
        first = program.run(tuple(unit.place for unit in units))
        bad = tuple(unit.place for unit in units if first.endings.get(unit.place, ("passed", ""))[0] != "passed")
        again = program.run(bad) if bad and not first.problem else PlainRun()
        return weighed(program.path, units, first, again)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A test of a file: all ids of it that differ in their parameters alone. Others than those that decide control."""

    place: str
    ids: tuple[str, ...]
    decides: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of the tests of a file. `controlled`: a test that needs nothing of the change passed as well."""

    path: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    broke: tuple[str, ...] = ()
    said: str = ""
    controlled: bool = False
    problem: str = ""
    result: CommandResult | None = None


def _by_file(cases: Iterable[TestCase]) -> dict[str, list[Unit]]:
    """The tests of each file that pass in all their parameters."""
    grouped: dict[tuple[str, str], list[TestCase]] = {}
    for case in cases:
        grouped.setdefault((file_of(case.id), _place_of(case.id)), []).append(case)
    found: dict[str, list[Unit]] = {}
    for (path, place), alike in grouped.items():
        if all(case.outcome == "passed" and not case.flaky for case in alike):
            ids = tuple(case.id for case in alike if case.before != "passed")
            unit = Unit(place=place, ids=ids or tuple(case.id for case in alike), decides=bool(ids))
            found.setdefault(path, []).append(unit)
    return found


def _place_of(id_: str) -> str:
    path, _, place = id_.partition("::")
    return place.partition("[")[0] if suffix(path) in PYTHON else place


def weighed(path: str, units: tuple[Unit, ...], first: PlainRun, again: PlainRun) -> Tried:
    """What two runs say of a file; what passed in one of them has passed."""
    tried = Tried(path=path, problem=first.problem or again.problem, result=first.result)
    if tried.problem:
        return tried
    words: dict[str, list[str]] = {"passed": [], "failed": [], "broke": []}
    said, controlled = "", False
    for unit in units:
        word, text = first.endings.get(unit.place, ("unfit", "it was not found"))
        later, _ = again.endings.get(unit.place, (word, ""))
        word = later if later == "passed" or word == "failed" else word
        if not unit.decides:
            controlled = controlled or word == "passed"
            if word not in ("passed", "unfit") and text != ENDED:
                return replace(tried, problem=f"it needs its runner, {unit.place} fails as well: {text}")
        elif word in words:
            words[word] += unit.ids
            said = said or text
    return replace(
        tried,
        passed=tuple(words["passed"]),
        failed=tuple(words["failed"]),
        broke=tuple(words["broke"]),
        said=said,
        controlled=controlled,
    )


def judged(tried: list[Tried]) -> CheckResult:
    """What the plain runs come to: refused where all that decides fails by its comparisons, and a control passes."""
    passed = tuple(id_ for one in tried for id_ in one.passed)
    failed = tuple(id_ for one in tried for id_ in one.failed)
    broke = tuple(id_ for one in tried for id_ in one.broke)
    bad = (*failed, *broke)
    why = next((one.said for one in tried if one.failed or one.broke), "")
    if not bad and not passed:
        reasons = [f"{one.path}: {one.problem}" for one in tried if one.problem]
        return _result("absent", f"nothing could be run: {reasons[0] if reasons else 'no deciding test is plain'}")
    if not bad:
        return _result("passed", f"{len(passed)} deciding test{'s pass' if len(passed) > 1 else ' passes'} as well")
    if failed and not passed and all(one.controlled for one in tried if one.failed):
        return _result("failed", f"what decides passes only under a test runner: {listed(failed)} ({why})")
    text = f"{listed(bad)} {'fail' if len(bad) > 1 else 'fails'}, which passes under one ({why})"
    questions = tuple(
        Question(kind="counter-proof", text=f"{id_} passes only under a test runner", path=file_of(id_)) for id_ in bad
    )
    return replace(_result("held", text), questions=questions[:MOST_QUESTIONS])


def _limit(longest_s: float) -> float:
    return max(SHORTEST_TIMEOUT_S, 5 * longest_s)


def _result(outcome: CheckOutcome, said: str) -> CheckResult:
    return CheckResult(name=NAME, outcome=outcome, summary=f"{WITHOUT}{said}")
