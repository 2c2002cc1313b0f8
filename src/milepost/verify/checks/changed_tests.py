"""The check of tests that the attempt changed: they pass as they are, and whoever owns them agrees with what went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question, QuestionKind, TestCase, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.judging.changed_tests import Became, LostTest, changed_files_of, file_of, lost_tests
from milepost.verify.judging.describe import expectation
from milepost.verify.suites.candidate_runs import CandidateRuns, cases_of
from milepost.verify.suites.compare import broken, no_longer_run
from milepost.verify.suites.pairing import paired
from milepost.verify.suites.reruns import rerun

NAME = "changed tests"
MOST_QUESTIONS = 20
Rule = Literal["ask", "accept", "refuse"]

_KINDS: Mapping[Became, QuestionKind] = {
    "changed": "changed test",
    "dropped": "dropped test",
    "removed": "removed test",
    "settings": "changed test",
}
_WORDS: Mapping[Became, str] = {
    "changed": "an expectation changed with the behaviour",
    "dropped": "an expectation was dropped",
    "removed": "a test was removed that fails now",
    "settings": "a test passes only with changed settings, fixtures or data",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTestsCheck:
    """`before` are the outcomes at the base. With `may_change` the task allows all of it; with `removal` it asks for
    something to go, so that tests of what is gone may go, too. `rule` is what the settings say about the rest.
    """

    runs: CandidateRuns
    change: Change
    before: Mapping[str, TestOutcome] | None
    may_change: bool = False
    removal: bool = False
    rule: Rule = "ask"
    reruns: int = 2

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        trees = self.runs.trees
        if not trees.differ:
            return CheckResult(name=NAME, outcome="absent", summary="no file that judges was changed")
        if problem := next((run.problem for _, run in self.runs.as_they_are if run.problem), ""):
            return self._told("failed", f"with the tests as they are now: {problem}")
        if worse := self._worse():
            first = worse[0]
            said = f"{first.id}: {first.message}" if first.message else first.id
            more = f"; also failed: {listed(tuple(case.id for case in worse[1:]))}" if len(worse) > 1 else ""
            return self._told("failed", f"as the attempt left it: {said}{more}")
        lost = self._lost()
        open_ones = tuple(one for one in lost if not self._is_allowed(one))
        if not open_ones or self.rule == "accept":
            return self._accepted(lost)
        summary = f"{self._words_for(open_ones[0])}: {open_ones[0].test}" + (
            f" (and {len(open_ones) - 1} more)" if len(open_ones) > 1 else ""
        )
        if self.rule == "refuse":
            return self._told("failed", summary)
        questions = _each_once(self._question(one) for one in open_ones[: 10 * MOST_QUESTIONS])[:MOST_QUESTIONS]
        return replace(self._told("held", summary), questions=questions)

    def _worse(self) -> tuple[TestCase, ...]:
        """The tests that fail as they are now and did not at the base, again and again."""
        now = tuple(self.runs.now.values())
        bad = broken(now, self._known(now))
        on_bench = {case.id for case in cases_of(self.runs.on_bench) if case.outcome == "failed"}
        bad = tuple(case for case in bad if case.id not in on_bench)  # the check of the tests has said so
        if not bad:
            return ()
        tree = self.runs.trees.as_it_is
        ids = tuple(case.id for case in bad)
        again = rerun(self.runs.as_they_are, ids, tree.workspace, tree.bench, times=self.reruns)
        return tuple(case for case in bad if case.id not in again.flaky)

    def _lost(self) -> tuple[LostTest, ...]:
        bench = {case.id: case for case in cases_of(self.runs.on_bench)}
        known = self._known(tuple(bench.values()))
        gone = no_longer_run(tuple(bench.values()), known)
        failed = (case.id for case in broken(tuple(bench.values()), known))
        lost = tuple(dict.fromkeys((*failed, *gone)))
        if not lost:
            return ()
        return lost_tests(lost, bench, self.runs.now, self.runs.on_old_source, self.runs.trees.split)

    def _known(self, cases: tuple[TestCase, ...]) -> Mapping[str, TestOutcome]:
        """How the tests stood at the base, under the ids that they have in this run."""
        return paired(cases, self.before, {}).before or {}

    def _is_allowed(self, one: LostTest) -> bool:
        return self.may_change or (self.removal and one.became == "removed")

    def _accepted(self, lost: tuple[LostTest, ...]) -> CheckResult:
        """Nothing of it is a question; tests that went as the task asked show that it was done."""
        split = self.runs.trees.split
        parts = [f"passes with {len(split.tests)} changed test files as they are" if split.tests else "passes as it is"]
        went = tuple(one.test for one in lost if one.became == "removed" and self.removal)
        if went:
            parts.append(f"went as asked: {listed(went)}")
        changed = tuple(one.test for one in lost if one.test not in went)
        if changed:
            parts.append(f"changed as allowed: {listed(changed)}")
        return self._told("passed", ", ".join(parts), decisive=bool(went))

    def _question(self, one: LostTest) -> Question:
        split = self.runs.trees.split
        path = self._file_with(one.test)
        if one.became == "settings":
            path = next(iter((*split.restored, *split.merged, *split.left_out, *split.uncertain)), path)
        file = self.change.file(path)
        line, was, now = 0, "", ""
        if file is not None:
            line, was, now = expectation(path, file.text_before, file.text_after, one.test)
        text = f"{self._words_for(one)}: {one.test}"
        if one.why:
            text += f" (as it was: {one.why})"
        return Question(kind=_KINDS[one.became], text=text, path=path, line=line, before=was, after=now)

    def _words_for(self, one: LostTest) -> str:
        """What became of a test; where its function has other parameters now, these are its expectation."""
        function, mark, _ = one.test.partition("[")
        known = {case.id for case in cases_of(self.runs.on_bench)}
        others = any(name.startswith(f"{function}[") and name not in known for name in self.runs.now)
        return _WORDS["changed" if mark and others and one.became == "removed" else one.became]

    def _file_with(self, test: str) -> str:
        """The changed file that a test stands in, as far as its id and the text tell."""
        files = changed_files_of(test, self.runs.trees.split)
        name = test.rpartition("::")[2].partition("/")[0]
        texts = {file.path: file.text_before for file in self.change.files if file.path in files}
        return next((path for path, text in texts.items() if name in text), next(iter(files), file_of(test)))

    def _told(
        self, outcome: Literal["passed", "failed", "held"], summary: str, *, decisive: bool = False
    ) -> CheckResult:
        runs = self.runs.as_they_are
        worst = next((run for _, run in runs if run.problem), runs[0][1] if runs else None)
        now = tuple(self.runs.now.values())
        known = self._known(now)
        cases = tuple(replace(case, before=known.get(case.id)) for case in now)
        return CheckResult(
            name=NAME,
            outcome=outcome,
            summary=summary,
            decisive=decisive,
            argv=worst.argv if worst else (),
            exit_code=worst.exit_code if worst else None,
            cases=cases,
            log=worst.log if worst else "",
            duration_ms=sum(run.duration_ms for _, run in runs),
            enforced=worst.enforced if worst else (),
            environment=worst.environment if worst else "",
        )


def _each_once(questions: Iterable[Question]) -> tuple[Question, ...]:
    """The questions, those about the same change of a test only once: one function can be many tests."""
    found: dict[object, list[Question]] = {}
    for one in questions:
        shown = (one.path, one.line, one.before, one.after)
        found.setdefault(shown if one.before or one.after else one, []).append(one)
    return tuple(
        replace(first, text=f"{first.text} (and {len(rest)} more like it)") if rest else first
        for first, *rest in found.values()
    )
