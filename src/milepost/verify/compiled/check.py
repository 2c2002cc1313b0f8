"""The check that runs the deciding tests of Go and Rust once more, as a program that nothing tells from any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckOutcome, CheckResult, Question, TestCase
from milepost.verify.checks.files import listed
from milepost.verify.compiled.go_program import GoPackage
from milepost.verify.compiled.program import ProgramOutcome
from milepost.verify.compiled.rust_program import RustProgram
from milepost.verify.compiled.signs import asked_before
from milepost.verify.deciding import brought, of_base
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.plain.outcome import Unit
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.trees import Tree

NAME = "counter-proof"
WITHOUT = "under other names, without a test runner: "
ABOUT = "counter-proof: the deciding tests under other names"
MOST_PROGRAMS = 3
MOST_DECIDING = 20
MOST_CONTROLS = 5
MOST_QUESTIONS = 5
SHORTEST_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTestsCheck:
    """Asks whether the tests that decide also pass under other names, in a program that is no test program by its
    name, its flags and its files; and whether they fail when they expect another value.

    They are those that pass now and did not at the base, in the checks before this one, and the ids in `own`.
    """

    runs: CandidateRuns
    change: Change
    own: tuple[str, ...] = ()

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        longest = max((check.duration_ms for check in earlier), default=0) / 1000
        found: list[ProgramOutcome] = []
        for program, units in self._programs(earlier, max(SHORTEST_TIMEOUT_S, 5 * longest)):
            if len(found) < MOST_PROGRAMS:
                found.append(program.run(units))
        told = judged(found, may_ask=_fails(found) and asked_before(workspace.folder, self.change))
        first = next((one.result for one in found if one.result is not None), None)
        return replace(told, enforced=first.enforced, argv=()) if first is not None else told

    def _programs(
        self, earlier: tuple[CheckResult, ...], limit_s: float
    ) -> Iterator[tuple[GoPackage | RustProgram, tuple[Unit, ...]]]:
        trees = self.runs.trees
        for tree, cases in (
            (trees.bench, of_base(self.runs, earlier, self.own)),
            (trees.as_it_is, brought(self.runs, self.own)),
        ):
            bench = replace(tree.bench, about=ABOUT, timeout_s=min(tree.bench.timeout_s, limit_s))
            place = Tree(workspace=tree.workspace, bench=bench)
            for path, units in by_program(cases).items():
                deciding = [unit for unit in units if unit.decides][:MOST_DECIDING]
                controls = [unit for unit in units if not unit.decides][:MOST_CONTROLS]
                program = self._program(place, path)
                if program is not None and deciding:
                    yield program, (*controls, *deciding)

    def _program(self, tree: Tree, path: str) -> GoPackage | RustProgram | None:
        checkout = tree.workspace.folder
        if path.endswith(".rs"):
            return RustProgram(tree=tree, source=path, folder=self._folder_of(path))
        return GoPackage(tree=tree, folder=path) if _has_go_tests(checkout / path) else None

    def _folder_of(self, path: str) -> str:
        """The folder of the suite that ran a file."""
        for suite, run in (*self.runs.on_bench, *self.runs.as_they_are):
            if any(file_of(case.id) == path for case in run.cases):
                return suite.folder
        return ""


def by_program(cases: Iterable[TestCase]) -> dict[str, list[Unit]]:
    """The tests of each package or program that pass with all that is below them."""
    grouped: dict[tuple[str, str], list[TestCase]] = {}
    for case in cases:
        path, _, name = case.id.partition("::")
        grouped.setdefault((path, name if path.endswith(".rs") else name.partition("/")[0]), []).append(case)
    found: dict[str, list[Unit]] = {}
    for (path, place), alike in grouped.items():
        if any(case.outcome == "failed" or case.flaky for case in alike) or alike[0].outcome != "passed":
            continue
        ids = tuple(case.id for case in alike if case.before != "passed" and case.outcome == "passed")
        unit = Unit(place=place, ids=ids or tuple(case.id for case in alike), decides=bool(ids))
        found.setdefault(path, []).append(unit)
    return found


def judged(found: list[ProgramOutcome], *, may_ask: bool = False) -> CheckResult:
    """What the programs come to. Refused: what lies by names, needs the test files to be built, fits whatever is
    expected, or fails by its comparisons while what passed before still does. Where the product of the base asks
    whether it runs under test, as some do to keep quiet, it `may_ask` again."""
    refused = next((f"{one.place}: {one.refused}" for one in found if one.refused), "")
    if refused:
        return _result("failed", refused)
    fits_all = tuple(id_ for one in found for id_ in one.fits_all)
    fits_some = tuple(id_ for one in found for id_ in one.fits_some)
    passed = tuple(id_ for one in found for id_ in one.passed)
    failed = tuple(id_ for one in found for id_ in one.failed)
    bad = (*failed, *(id_ for one in found for id_ in one.broke))
    why = next((one.said for one in found if one.failed or one.broke), "")
    if failed and not passed and not may_ask and all(one.controlled for one in found if one.failed):
        return _result("failed", f"what decides passes only in a test run: {listed(failed)} ({why})")
    if fits_all and set(fits_all) == {id_ for one in found for id_ in one.tried}:
        return _result("failed", f"{listed(fits_all)} pass whatever is expected")
    questions = [_question(id_, f"passes only in a test run by its own name ({why})") for id_ in bad]
    questions += [_question(id_, "passes whatever value it expects") for id_ in (*fits_all, *fits_some)]
    if questions:
        text = f"{listed((*bad, *fits_all, *fits_some))}: {questions[0].text.partition(' ')[2]}"
        return replace(_result("held", text), questions=tuple(questions[:MOST_QUESTIONS]))
    if not passed:
        reasons = [f"{one.place}: {one.problem}" for one in found if one.problem]
        return _result("absent", f"nothing could be run: {reasons[0] if reasons else 'no deciding test of Go or Rust'}")
    tried = sum(len(one.tried) for one in found)
    other = f", and {tried} fail{'s' if tried == 1 else ''} with other expectations" if tried else ""
    return _result("passed", f"{len(passed)} deciding test{'s pass' if len(passed) > 1 else ' passes'} as well{other}")


def _fails(found: list[ProgramOutcome]) -> bool:
    return any(one.failed for one in found)


def _has_go_tests(folder: Path) -> bool:
    return next(folder.glob("*_test.go"), None) is not None


def _question(id_: str, text: str) -> Question:
    return Question(kind="counter-proof", text=f"{id_} {text}", path=file_of(id_))


def _result(outcome: CheckOutcome, said: str) -> CheckResult:
    return CheckResult(name=NAME, outcome=outcome, summary=f"{WITHOUT}{said}")
