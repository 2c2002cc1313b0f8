"""The check that something shows that the task was done: green now, and not green before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from milepost.core.attempt import Workspace
from milepost.core.basis import BY_OWN_TESTS
from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Question
from milepost.verify.checks.does_anything import has_substance, is_named, only_words_differ
from milepost.verify.checks.files import listed
from milepost.verify.checks.tests import MISSING
from milepost.verify.compiled.rust_source import without_tests
from milepost.verify.judging.behaviour import About, part_about
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.judging.manifests import is_manifest
from milepost.verify.judging.paths import CODE, is_prose, is_test_path, is_test_setting, suffix
from milepost.verify.own_tests import OwnWork, own_work
from milepost.verify.suites.candidate_runs import CandidateRuns

NAME = "done"

_TESTS = re.compile(r"\b(?:unit )?tests?\b|\btest suite\b|\bcoverage\b", re.IGNORECASE)

OwnTestsRule = Literal["accept", "ask", "refuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneCheck:
    """`files` are those that the task names, `lines` its `Verify:` lines.

    Green before and green after is the answer only for a task that `keeps_behaviour`, is `about_words` or
    `changes_nothing`, and of the first two only where something of what it is `about` changed.
    Where nothing but tests that the attempt brought was red before, `own_tests` says what they count for; those of an
    author that is no model (`by_pattern`) count as anybody's. A task that is `about_tests` is shown by the tests it
    changed: they pass on the product, and the counter-proof says whether they can fail.
    """

    change: Change
    runs: CandidateRuns
    files: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    keeps_behaviour: bool = False
    about_words: bool = False
    about: About = "anything"
    changes_nothing: bool = False
    about_tests: bool = False
    by_pattern: bool = False
    own_tests: OwnTestsRule = "ask"

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        shown = [check for check in earlier if check.decisive and check.outcome == "passed"]
        if shown:
            return CheckResult(name=NAME, outcome="passed", summary=f"shown by {shown[0].name}: {shown[0].summary}")
        green = [check for check in earlier if check.name in ("tests", "verify") and check.outcome == "passed"]
        if self.changes_nothing and not self.change.files:
            return _passed("green as it is, and nothing was to change") if green else _not_shown(self._why(earlier))
        meant = self.change if self.files else part_about(self.change, self.about)
        if self.keeps_behaviour and green and has_substance(meant, self.files):
            return _passed("green before and after, and the task changes no behaviour")
        worded = only_words_differ(self.change, self.files) and only_words_differ(meant, self.files)
        if self.about_words and worded and any(check.cases for check in green):
            return _passed("green before and after, and only words changed, as the task asks")
        own = own_work(self.runs, self.lines, earlier, about_tests=self.about_tests)
        if (own.ids and not self._only_repeats_tests()) or (own.lines and has_substance(self.change, self.files)):
            return self._by_own_tests(own)
        if self._is_words() and ((meant.files and self.keeps_behaviour) or (green and self._is_as_named())):
            return _passed("only documentation or settings changed, as the task names them")
        if missing := next((check.summary for check in earlier if check.summary.startswith(MISSING)), ""):
            return CheckResult(name=NAME, outcome="absent", needed=True, summary=missing)
        return _not_shown(self._why(earlier))

    def _only_repeats_tests(self) -> bool:
        """Whether tests are all that was to change, and nothing of what they do did."""
        return self.about_tests and not has_substance(self.change, ())

    def _by_own_tests(self, own: OwnWork) -> CheckResult:
        said = listed(own.named)
        if self.by_pattern or self.about_tests or own.asked_for or self.own_tests == "accept":
            return _passed(f"{BY_OWN_TESTS}: {said}")
        if self.own_tests == "refuse":
            return CheckResult(
                name=NAME, outcome="failed", summary=f"nothing but its own tests shows that it is done: {said}"
            )
        text = f"{BY_OWN_TESTS} alone: {said}"
        question = Question(kind="own tests", text=text, path=file_of(own.ids[0]) if own.ids else "")
        return CheckResult(name=NAME, outcome="held", summary=text, questions=(question,))

    def _why(self, earlier: tuple[CheckResult, ...]) -> str:
        if self.lines or any(check.name == "tests" and check.cases for check in earlier):
            return "nothing shows that this was done: all that passes now passed before"
        return "nothing shows that this was done: there is no Verify: line and no test"

    def _is_words(self) -> bool:
        """Whether nothing but documentation and settings changed."""
        return all(map(_is_word_or_setting, self.change.paths))

    def _is_as_named(self) -> bool:
        """Whether all that changed is what the task names, and it names no code that was to change as well."""
        code = any(suffix(path) in CODE for path in self.files)
        return bool(self.files) and not code and all(is_named(path, self.files) for path in self.change.paths)


def _is_word_or_setting(path: str) -> bool:
    """Whether a file is documentation, or a setting that is no code."""
    return is_prose(path) or (is_test_setting(path) and suffix(path) not in CODE)


def is_about_tests(task: Task, change: Change, tests: tuple[str, ...]) -> bool:
    """Whether a task is about tests, by its words or its files, and its change touches no product but its prose."""
    named = [entry for part in task.walk() for entry in part.files]
    says_so = any(_TESTS.search(part.title) for part in task.walk()) or (named and all(map(is_test_path, named)))
    some = any(not _is_word_or_setting(path) for path in change.paths)
    return some and bool(says_so) and all(_is_of_tests(file, tests) for file in change.files)


def _is_of_tests(file: ChangedFile, tests: tuple[str, ...]) -> bool:
    """Whether nothing but tests changed in a file: one of tests or of their settings, or a Rust module of them."""
    if file.path in tests or is_test_path(file.path):
        return True
    if _is_word_or_setting(file.path):
        return not is_manifest(file.path)
    if suffix(file.path) != ".rs" or file.is_link or None in (file.before, file.after):
        return False
    return without_tests(file.text_before) == without_tests(file.text_after)


def _passed(summary: str) -> CheckResult:
    return CheckResult(name=NAME, outcome="passed", summary=summary, decisive=True)


def _not_shown(text: str) -> CheckResult:
    return CheckResult(name=NAME, outcome="held", summary=text, questions=(Question(kind="not shown", text=text),))
