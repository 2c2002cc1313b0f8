"""A `Verify:` line on both trees: with what judges as it was at the base, and as the attempt left it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckOutcome, CheckResult, Question, TestCase
from milepost.verify.checks.changed_tests import MOST_QUESTIONS, Rule
from milepost.verify.checks.files import listed
from milepost.verify.judging.changed_tests import file_of, is_answered, is_of_changed_file, rewritten
from milepost.verify.suites.candidate_runs import CandidateRuns

NAME = "verify"
CHANGED = "an expectation changed with the behaviour"


class FollowUp(Protocol):
    """A question that an earlier answer may serve."""

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOnTrees:
    """`on_bench` and `as_left` are the same question for the two trees; the verdict is taken on the bench.

    What fails there and passes as the attempt left it is refused where the line failed before: its judge was changed.
    Where it passed before, or only a file is missing that nobody asked about, a person is asked. Tests that the
    attempt changed or brought are for the checks of changed tests and of what is done; those that only this line runs,
    such as examples in a product file, are asked about here, as `rule` says.
    """

    on_bench: FollowUp
    as_left: FollowUp
    runs: CandidateRuns
    may_change: bool = False
    rule: Rule = "ask"

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        trees = self.runs.trees
        bench = self._without_own(self.on_bench.run_after(trees.bench.workspace, earlier))
        if not trees.differ:
            return bench
        left = self.as_left.run_after(trees.as_it_is.workspace, self._suite_as_left(earlier))
        if left.outcome in ("failed", "held"):
            return replace(left, summary=f"as the attempt left it: {left.summary}", decisive=False)
        if bench.outcome == "passed":
            return replace(bench, cases=_both(bench.cases, left.cases))
        return self._only_as_left(bench, left)

    def _without_own(self, bench: CheckResult) -> CheckResult:
        """Tests of files that the attempt changed show nothing by themselves, also where the task names these files."""
        own = self.runs.trees.split.changed
        mended = [case for case in bench.cases if case.outcome == "passed" and case.before != "passed"]
        if not bench.decisive or not mended or any(file_of(case.id) not in own for case in mended):
            return bench
        return replace(bench, decisive=False)

    def _suite_as_left(self, earlier: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
        """The project's tests as they are now, where they were run: a line that selects them all is served by these."""
        suite = next((check for check in earlier if check.name == "tests" and check.cases), None)
        return (replace(suite, cases=tuple(self.runs.now.values())),) if suite else ()

    def _only_as_left(self, bench: CheckResult, left: CheckResult) -> CheckResult:
        split = self.runs.trees.split
        failing = tuple(case for case in bench.cases if case.outcome == "failed")
        brought = [case.id for case in left.cases if case.outcome == "passed" and file_of(case.id) in split.tests]
        if not bench.cases and brought:
            return replace(left, decisive=False, summary=f"{left.summary}, by tests that the attempt brought")
        now = {case.id: case for case in left.cases}
        red = tuple(case.id for case in failing if case.before == "failed")
        if not self.may_change and (forms := rewritten(red, now, split)):
            return replace(bench, summary=f"{listed(forms)}: passes only in the rewritten form")
        if failing and all(is_answered(case.id, now, split) and is_of_changed_file(case.id, split) for case in failing):
            told = replace(left, decisive=False, summary=f"{left.summary}, with the tests as the attempt changed them")
            return self._asked(told, self._of_no_suite(failing))
        judges = (*split.restored, *split.merged)
        files = (*split.uncertain, *split.left_out, *judges)
        text = f"`{bench.line}` passes only with these files: {listed(files)}"
        unanswered = any(not is_answered(case.id, now, split) for case in failing)
        if unanswered or (bench.before == "failed" and judges):
            return replace(bench, summary=f"{bench.summary} ({text})")
        asked = f"{text}, which the task does not name in Files"
        question = Question(kind="left out", text=f"{asked} ({bench.summary})", path=files[0] if files else "")
        return replace(bench, outcome="held", decisive=False, summary=asked, questions=(question,))

    def _of_no_suite(self, failing: tuple[TestCase, ...]) -> tuple[TestCase, ...]:
        """The examples in product files that the check of changed tests does not see."""
        examples = tuple(case for case in failing if file_of(case.id) in self.runs.trees.split.examples)
        seen = {case.id for _, run in self.runs.on_bench for case in run.cases} if examples else set()
        return tuple(case for case in examples if case.id not in seen)

    def _asked(self, told: CheckResult, changed: tuple[TestCase, ...]) -> CheckResult:
        """A person is asked whether tests that passed at the base, and fail on the new source, may expect otherwise."""
        if not changed or self.may_change or self.rule == "accept":
            return told
        said = f"{CHANGED}: {listed(tuple(case.id for case in changed))}"
        questions = tuple(
            Question(
                kind="changed test", text=f"{CHANGED}: {case.id} (as it was: {case.message})", path=file_of(case.id)
            )
            for case in changed[:MOST_QUESTIONS]
        )
        outcome: CheckOutcome = "failed" if self.rule == "refuse" else "held"
        return replace(told, outcome=outcome, summary=said, questions=questions if outcome == "held" else ())


def _both(bench: tuple[TestCase, ...], left: tuple[TestCase, ...]) -> tuple[TestCase, ...]:
    """The tests on the bench, and those that only the attempt has."""
    known = {case.id for case in bench}
    return (*bench, *(case for case in left if case.id not in known))
