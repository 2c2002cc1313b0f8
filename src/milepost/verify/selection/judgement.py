"""What a witnessed run of a line's tests says, seen against the base; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from milepost.core.verdict import CheckOutcome, Question, TestCase, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.judging.examples import files_with_examples
from milepost.verify.selection.at_base import LineAtBase
from milepost.verify.selection.selection import NOT_THERE
from milepost.verify.suites.pairing import paired
from milepost.verify.suites.suite import SuiteRun

DESELECTED = "deselected"

_ELSEWHERE_EACH_TIME = re.compile(r"0x[0-9a-fA-F]+|\b\d+(?:\.\d+)?m?s\b|/\S*/")

_LOADED = re.compile(r"\.(py|[cm]?[jt]sx?)$")  # a file that is nothing but tests; a Rust or Go one need not have any


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The answer about the tests of a line. `mended` are those that pass now and did not at the base."""

    outcome: CheckOutcome
    summary: str
    cases: tuple[TestCase, ...] = ()
    mended: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    needed: bool = False


def judged(run: SuiteRun, before: LineAtBase | None, *, removal: bool = False) -> Judgement:
    """Judge the tests that a line selects by what they were at the base; None where nothing is known of it.

    With `removal` the task asks for something to go, and with it its examples.
    """
    selected = tuple(case for case in run.cases if case.message != DESELECTED)
    if unfinished := _without_tests(run, selected, before):
        return unfinished
    cases = _with_before(selected, before)
    mended = _mended(cases, before)
    excused = before.excused if before else ()
    failing = [case for case in cases if case.outcome == "failed" and not case.flaky and case.id not in excused]
    lost = _not_seen(cases, before)
    told = Judgement(outcome="passed", summary=_counted(cases, mended), cases=cases, mended=mended)
    old = [case for case in failing if mended and _is_as_it_was(case, before)]
    new = [case for case in failing if case not in old]
    if new:
        return replace(told, outcome="failed", summary=_names(new))
    if lost:
        return replace(told, outcome="failed", summary=f"failed at the base and not seen to pass now: {listed(lost)}")
    if old:
        said = f"{told.summary}; fails as it did at the base: {listed(tuple(case.id for case in old))}"
        return replace(told, outcome="held", summary=said, questions=tuple(_question(case) for case in old))
    if gone := () if removal else _examples_gone(cases, before):
        text = f"examples that passed at the base are gone: {listed(gone)}"
        asked = Question(kind="removed test", text=text, path=gone[0].partition("::")[0])
        return replace(told, outcome="held", summary=f"{told.summary}; {text}", questions=(asked,))
    return told


def _without_tests(run: SuiteRun, selected: tuple[TestCase, ...], before: LineAtBase | None) -> Judgement | None:
    """The answer where there is no test to judge by: not run, not to be trusted, none there."""
    if run.missing:
        return Judgement(outcome="absent", summary=f"its tests cannot be run here: {run.missing}", needed=True)
    if before is not None and before.problem and (run.problem or any(case.outcome == "failed" for case in selected)):
        said = f"its tests could not be run at the base either, so they say nothing about the change: {before.problem}"
        return Judgement(outcome="absent", summary=said, cases=selected, needed=True)
    if run.problem:
        return Judgement(outcome="failed", summary=run.problem)
    if not selected:
        return Judgement(outcome="failed", summary="it selects no test")
    if all(case.outcome == "skipped" for case in selected):
        return Judgement(outcome="failed", summary="every test was skipped", cases=selected)
    return None


def _with_before(cases: tuple[TestCase, ...], before: LineAtBase | None) -> tuple[TestCase, ...]:
    """The cases with what they were at the base; a file that could not be loaded there speaks for its tests."""
    if before is None:
        return cases
    known: dict[str, TestOutcome] = {case.id: case.outcome for case in before.cases}
    parameters = {case.id: case.parameters for case in before.cases if case.parameters}
    found = paired(cases, known, parameters).before or {}
    return tuple(replace(case, before=found.get(case.id)) for case in cases)


def _mended(cases: Iterable[TestCase], before: LineAtBase | None) -> tuple[str, ...]:
    """The tests that pass now and failed, were skipped or were not there at the base; none where that is unknown."""
    if before is None:
        return ()
    return tuple(case.id for case in cases if case.outcome == "passed" and case.before != "passed")


def _is_as_it_was(case: TestCase, before: LineAtBase | None) -> bool:
    then = {each.id: each.message for each in before.cases if each.outcome == "failed"} if before else {}
    return case.before == "failed" and _steady(then.get(case.id, "")) == _steady(case.message)


def _steady(message: str) -> str:
    return _ELSEWHERE_EACH_TIME.sub("…", message)


def _not_seen(cases: tuple[TestCase, ...], before: LineAtBase | None) -> tuple[str, ...]:
    """The tests that failed at the base and of which nothing was seen that passed or failed now."""
    if before is None:
        return ()
    seen = [case.id for case in cases if case.outcome != "skipped"]
    paired_off = {case.id for case in cases if case.before == "failed"}
    named = [case.id for case in before.cases if case.outcome == "failed" and case.message != NOT_THERE]
    failed = [name for name in named if name not in before.excused and ("::" in name or _LOADED.search(name))]
    lost = [name for name in failed if not any(_is_of(each, name) for each in seen)]
    renamed = len(paired_off - set(failed))
    return tuple(lost[renamed:])


def _examples_gone(cases: tuple[TestCase, ...], before: LineAtBase | None) -> tuple[str, ...]:
    """The examples in product files that passed at the base and are not there now."""
    passed = [case.id for case in before.cases if case.outcome == "passed"] if before else []
    product = files_with_examples(passed)
    there = {case.id for case in cases}
    return tuple(name for name in passed if name not in there and name.partition("::")[0] in product)


def _is_of(id_: str, name: str) -> bool:
    """Whether a test is the named one, or of the named file, class or parametrised test."""
    return id_ == name or id_.startswith((f"{name}::", f"{name}["))


def _counted(cases: tuple[TestCase, ...], mended: tuple[str, ...]) -> str:
    passed = sum(case.outcome == "passed" for case in cases)
    skipped = sum(case.outcome == "skipped" for case in cases)
    parts = [f"{passed} passed"]
    if mended:
        parts.append(f"{len(mended)} of them did not pass before")
    if skipped:
        parts.append(f"{skipped} skipped")
    return ", ".join(parts)


def _names(failing: list[TestCase]) -> str:
    first = failing[0]
    more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
    return f"{first.id}: {first.message}{more}"


def _question(case: TestCase) -> Question:
    path = case.id.partition("::")[0]
    text = f"{case.id} failed at the base and fails in the same way now: is it a part of this task?"
    return Question(kind="not shown", text=text, path=path, before=case.message, after=case.message)
