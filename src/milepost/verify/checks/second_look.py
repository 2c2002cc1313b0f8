"""A second look: could the deciding tests have failed, what ran beside them, how strong are they?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.basis import BY_OWN_TESTS
from milepost.core.change import Change
from milepost.core.verdict import CheckResult
from milepost.verify.compiled.check import CompiledTestsCheck
from milepost.verify.compiled.signs import signs
from milepost.verify.counterproof.audit import NAME as AUDIT
from milepost.verify.counterproof.audit import audit_check
from milepost.verify.counterproof.check import NAME as COUNTER_PROOF
from milepost.verify.counterproof.check import CounterProofCheck
from milepost.verify.counterproof.exit_code import ExitCodeProof, judging_programs
from milepost.verify.counterproof.line_elsewhere import LineElsewhere
from milepost.verify.counterproof.other_judges import OtherJudges
from milepost.verify.counterproof.own_tests import own_tests_check
from milepost.verify.counterproof.testing_libraries import testing_libraries
from milepost.verify.own_tests import OwnWork, own_work
from milepost.verify.plain.check import PlainRunCheck
from milepost.verify.plain.same_answers import SameAnswersCheck
from milepost.verify.plain.unseen import UnseenInputsCheck
from milepost.verify.programs.command_line import argv_of
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.suites.detect import JAVASCRIPT, PYTHON
from milepost.verify.suites.suite import AuditNote

WATCHED = (*PYTHON, *JAVASCRIPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """What a second look at a candidate is about: its changed product files, and the tests on its trees."""

    change: Change
    product: tuple[str, ...]
    runs: CandidateRuns
    seed: str = ""
    runners: tuple[str, ...] = ()
    about_tests: bool = False
    lines: tuple[str, ...] = ()

    def own(self, earlier: tuple[CheckResult, ...]) -> tuple[str, ...]:
        """The attempt's own tests, where nothing but these shows that the work is done."""
        return self.shown(earlier).ids

    def shown(self, earlier: tuple[CheckResult, ...]) -> OwnWork:
        """The same with the lines that show it without a test that can be seen."""
        if not shows_by_own_tests(earlier):
            return OwnWork()
        return own_work(self.runs, self.lines, earlier, about_tests=self.about_tests)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterProof:
    """The deciding tests must fail without the work and with other expectations, on the tree that they decide on."""

    look: SecondLook

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        look, trees = self.look, self.look.runs.trees
        own = look.own(earlier)
        tree = trees.as_it_is if own else trees.bench
        tried = tuple(check for check in earlier if check.name in ("tests", "verify", "independent tests"))
        if own:
            known = {case.id: case for check in tried for case in check.cases} | dict(look.runs.now)
            cases = tuple(replace(known[name], before=None) for name in own if name in known)
            tried = (CheckResult(name="tests", outcome="passed", summary="", cases=cases),)
        check = CounterProofCheck(
            bench=tree.bench, change=look.change, product=look.product, seed=look.seed, runners=look.runners
        )
        return check.run_after(tree.workspace, tried)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutRunner:
    """The deciding tests once more as a plain program, where nothing looks like a test run."""

    look: SecondLook

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        look = self.look
        check = PlainRunCheck(runs=look.runs, change=look.change, product=look.product, own=look.own(earlier))
        return check.run_after(workspace, earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenInputs:
    """The deciding tests once more with other inputs; `task` is what was asked, in words."""

    look: SecondLook
    task: str = ""

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        look, own = self.look, self.look.own(earlier)
        check = UnseenInputsCheck(
            runs=look.runs, change=look.change, product=look.product, seed=look.seed, own=own, task=self.task
        )
        return check.run_after(workspace, earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswers:
    """What the product answered before the change, and what it answers now."""

    look: SecondLook

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        look = self.look
        check = SameAnswersCheck(runs=look.runs, change=look.change, product=look.product, seed=look.seed)
        return check.run_after(workspace, earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderOtherNames:
    """The deciding tests of compiled languages once more, where nothing looks like a test run."""

    look: SecondLook

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        check = CompiledTestsCheck(runs=self.look.runs, change=self.look.change, own=self.look.own(earlier))
        return check.run_after(workspace, earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What changed files did while tests ran; `at_base` is what was seen there, None where nobody watched.

    And what they say: `task` is what was asked, in words.
    """

    look: SecondLook
    at_base: tuple[AuditNote, ...] | None
    task: str = ""

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        look = self.look
        runs = [(suite, run) for suite, run in (*look.runs.on_bench, *look.runs.as_they_are) if run.argv]
        seen = tuple(note for _, run in runs for note in run.notes)
        read = signs(look.change, look.product, workspace.folder)
        read += testing_libraries(look.change, look.product, self.task, workspace.folder)
        if runs and not (seen or read) and not any(suite.runner in WATCHED for suite, _ in runs):
            return CheckResult(name=AUDIT, outcome="absent", summary="no audit for this language")
        return audit_check(seen if runs or read else None, self.at_base, read)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineProof:
    """The counter-proof of a `Verify:` line in which no test can be seen; `judges` are programs of the repository."""

    line: str
    look: SecondLook
    judges: tuple[str, ...]

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        tree = self.look.runs.trees.bench
        argv = argv_of(self.line)
        alone = [check for check in earlier if check.name == "verify" and check.argv == argv and _by_exit_code(check)]
        if not alone:
            return CheckResult(name=COUNTER_PROOF, outcome="absent", summary="tests decide")
        found = self._by_judges(argv)
        if found.outcome in ("failed", "held"):
            return found
        took_s = max(check.duration_ms for check in alone) / 1000
        look = self.look
        elsewhere = LineElsewhere(argv=argv, bench=tree.bench, change=look.change, product=look.product, took_s=took_s)
        return elsewhere.run(tree.workspace) or found

    def _by_judges(self, argv: tuple[str, ...]) -> CheckResult:
        """The counter-proof by what judges: programs that can be watched, or others whose expectations are replaced."""
        tree = self.look.runs.trees.bench
        judges = judging_programs(argv, self.line, self.judges)
        if not judges:
            look = self.look
            other = OtherJudges(argv=argv, bench=tree.bench, judges=self.judges, product=look.product, seed=look.seed)
            return other.run(tree.workspace)
        proof = ExitCodeProof(argv=argv, bench=tree.bench, judges=judges, product=self.look.product)
        found, notes = proof.run(tree.workspace)
        return audit_check(notes, ()) if found.outcome != "failed" and notes else found


def _by_exit_code(check: CheckResult) -> bool:
    return check.decisive and check.outcome == "passed" and not check.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTests:
    """How strong the attempt's own tests are, where nothing else decides."""

    look: SecondLook

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        look, tree = self.look, self.look.runs.trees.as_it_is
        own = look.shown(earlier)
        if not own:
            return CheckResult(name="own tests", outcome="absent", summary="others than its own tests decide")
        names = (
            ("tests", "verify", "changed tests") if look.about_tests else ("changed tests",) if own.ids else ("verify",)
        )
        took_s = max((check.duration_ms for check in earlier if check.name in names), default=0) / 1000
        return own_tests_check(
            look.change,
            look.product,
            own,
            tree.workspace,
            tree.bench,
            took_s=took_s,
            runners=look.runners,
            about_tests=look.about_tests,
        )


def shows_by_own_tests(earlier: tuple[CheckResult, ...]) -> bool:
    """Whether nothing but tests that the attempt brought shows that the work is done."""
    return any(check.name == "done" and check.summary.startswith(BY_OWN_TESTS) for check in earlier)
