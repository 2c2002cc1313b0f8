"""The check that runs the deciding tests once more as a plain program, without a test runner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult
from milepost.verify.plain.old_source import beside_base, is_doubtful, old_files
from milepost.verify.plain.outcome import FileOutcome, Unit, judged, unsteady, weighed
from milepost.verify.plain.programs import programs
from milepost.verify.plain.run import PlainProgram, PlainRun
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.witness.swap import swapped

ABOUT = "counter-proof: the deciding tests without a test runner"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRunCheck:
    """Asks whether the tests that decide also pass where nothing looks like a test run.

    They are those that pass now and did not at the base, in the checks before this one, and the ids in `own`: tests
    that the attempt brought. Beside them a few tests of the same files are run that passed at the base, too: where one
    of these fails, at the base as well, the file needs its runner, and says nothing.
    """

    runs: CandidateRuns
    change: Change
    product: tuple[str, ...]
    own: tuple[str, ...] = ()

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        tried = [self._try(program, units) for program, units in programs(self.runs, earlier, self.own, ABOUT)]
        told = judged(tried)
        first = next((one.result for one in tried if one.result is not None), None)
        return replace(told, enforced=first.enforced) if first is not None else told

    def _try(self, program: PlainProgram, units: tuple[Unit, ...]) -> FileOutcome:
        """Run the tests; those that fail are run once more with the files that they hand to the product, as an
        accusation must not come from a flaky test either."""
        if not units:
            return FileOutcome(
                path=program.path, problem=program.plain().problem or "its tests take fixtures from elsewhere"
            )
        places = tuple(unit.place for unit in units)
        first = program.run(places)
        if first.problem and first.result is not None:
            first = program.run(places)
        bad = tuple(unit.place for unit in units if first.endings.get(unit.place, ("passed", ""))[0] != "passed")
        again = program.run(bad, given=True) if bad and not first.problem else PlainRun()
        tried = self._repeated(program, units, first, weighed(program.path, units, first, again))
        first = first.and_passed_in(again)
        if not is_doubtful(tried, units, first):
            return tried
        with swapped(program.tree.workspace.folder, old_files(self.change, self.product)):
            old = program.run(places)
        return beside_base(tried, units, first, old, program.hidden() or ())

    def _repeated(
        self, program: PlainProgram, units: tuple[Unit, ...], first: PlainRun, tried: FileOutcome
    ) -> FileOutcome:
        """The same, with the tests that do not pass once more in the same process, where those of the base do.

        What differs with the order or the number of calls on the source of the base as well is how these tests are.
        """
        if tried.problem or tried.failed or tried.broke or not unsteady(units, (first,)):
            return tried
        places = tuple(unit.place for unit in units)
        found = unsteady(units, (first, program.run(places)))
        with swapped(program.tree.workspace.folder, old_files(self.change, self.product)):
            old = program.run(places)
        if not found or old.later:
            return tried
        said = first.later[found[0].place][1]
        return replace(tried, unsteady=tuple(id_ for unit in found for id_ in unit.ids), said=said)
