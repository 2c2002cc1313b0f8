"""The check that runs the project's own tests as they were at the base, and compares them with how they stood there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckResult, Question, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench, tail
from milepost.verify.judging.changed_tests import file_of, is_answered, rewritten
from milepost.verify.suites.candidate_runs import CandidateRuns, Runs, cases_of, run_suites
from milepost.verify.suites.compare import Comparison, broken, compare, no_longer_run, outcomes, parameters
from milepost.verify.suites.detect import suites
from milepost.verify.suites.pairing import Pairing, paired
from milepost.verify.suites.reruns import Reruns, rerun
from milepost.verify.suites.suite import AuditNote, SuiteRun
from milepost.verify.trees import Tree

__all__ = ["NAME", "TestsCheck", "compare", "find_flaky", "outcomes", "parameters", "ran_to_the_end", "state_of"]

NAME = "tests"
LONGEST_LOG = 8_000
MOST_RERUN = 50
MISSING = "the tests could not be run: "


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsCheck:
    """Asks whether the tests of the base hold on the new source, those of all suites of the checkout.

    `before` are their outcomes on the tree the attempt started from, None when they are unknown, and
    `parameters` what its parametrised tests were called with, by which they are found again. The answer
    is decisive when a test that was there and did not pass passes now. A test that fails now and did not before is
    run `reruns` times more; one that passes then is flaky, which excuses it where `flaky_at_base` says that it was so
    before. With `is_all`, where no other check decides, a test that is flaky at the base earns no credit either. A
    suite that cannot be run `at_base_either` is nobody's fault. What fails as it was, and passes as the attempt
    changed it, is for the check of changed tests to answer; with `may_change` also where it failed before.
    """

    __test__ = False  # pytest collects classes by this prefix

    runs: CandidateRuns
    before: Mapping[str, TestOutcome] | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    may_change: bool = False
    reruns: int = 2
    flaky_at_base: Callable[[tuple[str, ...]], frozenset[str]] | None = None
    is_all: bool = False
    at_base_either: bool = False

    def run(self, workspace: Workspace) -> CheckResult:
        runs, bench = self.runs.on_bench, self.runs.trees.bench.bench
        pairing = paired(cases_of(runs), self.before, self.parameters)
        told = _told(runs, bench, broken_ids(runs, pairing.before))
        if told.outcome == "failed":
            return self._without_answer(told)
        answered = self._answered(runs, pairing)
        open_ids = tuple(name for name in broken_ids(runs, pairing.before) if name not in answered)
        again = self._run_again(open_ids, runs)
        by = Comparison(reruns=again, excused=self._excused(again, open_ids, pairing), answered=answered)
        seen = self._without_own(compare(told, pairing.before, by), pairing)
        if seen.outcome != "failed" and not self.may_change and (forms := self._rewritten(runs, pairing)):
            verb = "passes" if len(forms) == 1 else "pass"
            return replace(seen, outcome="failed", summary=f"{listed(forms)} {verb} only in the rewritten form")
        return self._without_luck(seen, pairing) if self.is_all and seen.decisive else seen

    def _without_own(self, seen: CheckResult, pairing: Pairing) -> CheckResult:
        """Tests of files that the attempt changed show nothing by themselves, also where the task names these files."""
        own = self.runs.trees.split.changed
        if not seen.decisive or not own:
            return seen
        others = replace(seen, cases=tuple(case for case in seen.cases if file_of(case.id) not in own))
        known = {name: outcome for name, outcome in (pairing.before or {}).items() if file_of(name) not in own}
        return replace(seen, decisive=compare(others, known, Comparison(answered=frozenset(known))).decisive)

    def _without_answer(self, told: CheckResult) -> CheckResult:
        """The tests could not be run to their end: as at the base, only with the base's own files, or at all."""
        if self.at_base_either:
            return replace(told, outcome="absent", summary=f"{MISSING}nor on the base commit: {told.summary}")
        trees = self.runs.trees
        if trees.differ and not any(run.problem for _, run in self.runs.as_they_are):
            files = (*trees.split.restored, *trees.split.left_out, *trees.split.uncertain)
            text = f"the tests run only with these files as the attempt changed them: {listed(files)}"
            question = Question(kind="changed test", text=f"{text} ({told.summary})", path=files[0] if files else "")
            return replace(told, outcome="held", summary=text, questions=(question,))
        return told

    def _answered(self, runs: Runs, pairing: Pairing) -> frozenset[str]:
        """The tests of the base that do not pass any more, but do as the attempt changed them, or went with them."""
        known = pairing.before or {}
        gone = no_longer_run(cases_of(runs), known)
        free = frozenset(name for name in gone if self._may_go(pairing.at_base(name)))
        lost = [name for name in (*broken_ids(runs, known), *gone) if name not in free]
        if not lost or not self.runs.trees.differ:
            return free
        now, split = self.runs.now, self.runs.trees.split
        return free | {name for name in lost if is_answered(pairing.at_base(name), now, split)}

    def _may_go(self, test: str) -> bool:
        """Whether a test may be gone because the task says that tests may change, or names its file."""
        return self.may_change or file_of(test) in self.runs.trees.split.judged

    def _rewritten(self, runs: Runs, pairing: Pairing) -> tuple[str, ...]:
        if not self.runs.trees.differ:
            return ()
        bench = {case.id: case.outcome for case in cases_of(runs)}
        open_ids = [name for name, outcome in (pairing.before or {}).items() if outcome == "failed"]
        loaded = {file_of(name) for name, outcome in bench.items() if outcome == "passed"}
        waiting = tuple(
            pairing.at_base(name) for name in open_ids if bench.get(name) != "passed" and name not in loaded
        )
        return rewritten(waiting, self.runs.now, self.runs.trees.split) if waiting else ()

    def _without_luck(self, seen: CheckResult, pairing: Pairing) -> CheckResult:
        """The same without the credit that only flaky tests earned."""
        mended = tuple(case.id for case in seen.cases if case.outcome == "passed" and case.before == "failed")
        files = {name for name, outcome in (pairing.before or {}).items() if outcome == "failed"}
        imported = any(case.outcome == "passed" and case.id.partition("::")[0] in files for case in seen.cases)
        if imported or self.flaky_at_base is None or len(mended) > MOST_RERUN:
            return seen
        if pairing.asked(self.flaky_at_base, mended) < frozenset(mended):
            return seen
        return replace(
            seen, decisive=False, summary=f"{seen.summary}, but also pass at times on the base commit: flaky"
        )

    def _run_again(self, ids: tuple[str, ...], runs: Runs) -> Reruns:
        if not ids or len(ids) > MOST_RERUN:
            return Reruns()
        tree = self.runs.trees.bench
        return rerun(runs, ids, tree.workspace, tree.bench, times=self.reruns)

    def _excused(self, again: Reruns, ids: tuple[str, ...], pairing: Pairing) -> frozenset[str]:
        """The flaky tests that were flaky at the base; not asked where something else failed for good."""
        flaky = tuple(name for name in ids if name in again.flaky and name in (pairing.before or {}))
        if not flaky or len(flaky) < len(ids) or self.flaky_at_base is None:
            return frozenset()
        return pairing.asked(self.flaky_at_base, flaky)


def state_of(
    tree: Tree, runners: tuple[str, ...] = (), only: tuple[str, ...] = ()
) -> tuple[CheckResult, tuple[AuditNote, ...]]:
    """What the tests of a checkout come to, compared with nothing, and what was noted of the product meanwhile."""
    runs = run_suites(tree, runners, only)
    notes = tuple(note for _, run in runs for note in run.notes)
    return compare(_told(runs, tree.bench, broken_ids(runs, None)), None), notes


def find_flaky(
    ids: tuple[str, ...], workspace: Workspace, bench: Bench, times: int = 5, runners: tuple[str, ...] = ()
) -> frozenset[str]:
    """Those of the tests that both pass and fail when this checkout's tests are run `times` times."""
    found = suites(workspace.folder, runners)
    only = ids if len(found) == 1 else ()
    runs = tuple((suite, suite.runner.run(suite.folder, workspace, bench, only=only)) for suite in found)
    if any(run.problem for _, run in runs):
        return frozenset()
    return rerun(runs, ids, workspace, bench, times=times - 1).flaky


def ran_to_the_end(result: CheckResult) -> bool:
    """Whether the outcomes of a `TestsCheck` are those of all tests there are, whatever the tests said.

    False when a runner crashed, ran out of time, was ended, left no report or one that is not to be trusted, and
    where none of the suites could be run.
    """
    return bool(result.cases) or (result.outcome == "absent" and not result.summary.startswith(MISSING))


def broken_ids(runs: Runs, before: Mapping[str, TestOutcome] | None) -> tuple[str, ...]:
    return tuple(case.id for case in broken(cases_of(runs), before or {}))


def _told(runs: Runs, bench: Bench, broken_ids: tuple[str, ...]) -> CheckResult:
    """What the suites told, before it is compared with anything; `failed`, and no case kept, when not to be trusted."""
    if not runs:
        return CheckResult(name=NAME, outcome="absent", summary="the project has no tests")
    several = len(runs) > 1
    _, worst = max(runs, key=lambda each: _badness(each[1], broken_ids))
    ran = [run for _, run in runs if run.argv]
    told = CheckResult(
        name=NAME,
        outcome="passed",
        summary="",
        argv=worst.argv,
        exit_code=worst.exit_code,
        cases=tuple({case.id: case for _, run in runs for case in run.cases}.values()),
        log=_log(runs),
        duration_ms=sum(run.duration_ms for run in ran),
        enforced=tuple(word for word in worst.enforced if all(word in run.enforced for run in ran if run.enforced)),
        environment=_environment(worst, bench),
    )
    problems = [f"{suite.label}: {run.problem}" if several else run.problem for suite, run in runs if run.problem]
    if problems:
        return replace(told, outcome="failed", summary="; ".join(problems), cases=())
    missing = [f"{suite.label}: {run.missing}" if several else run.missing for suite, run in runs if run.missing]
    if told.cases:
        return replace(told, summary=f"not run: {'; '.join(missing)}" if missing else "")
    nothing = f"{MISSING}{'; '.join(missing)}" if missing else "no test was found in the test files"
    return replace(told, outcome="absent", summary=nothing)


def _badness(run: SuiteRun, broken_ids: tuple[str, ...]) -> int:
    if run.problem:
        return 3
    return 2 if any(case.id in broken_ids for case in run.cases) else int(bool(run.argv))


def _environment(run: SuiteRun, bench: Bench) -> str:
    return "; ".join(part for part in (run.environment, bench.fingerprint(run.argv) if run.argv else "") if part)


def _log(runs: Runs) -> str:
    if len(runs) == 1:
        return runs[0][1].log
    return tail("\n".join(f"== {suite.label}\n{run.log}" for suite, run in runs if run.log), LONGEST_LOG)
