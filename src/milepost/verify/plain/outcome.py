"""What the tests of a file come to when they are run as a plain program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from milepost.core.commands import CommandResult
from milepost.core.verdict import CheckOutcome, CheckResult, Question, TestCase
from milepost.verify.checks.files import listed
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.judging.paths import PYTHON, suffix
from milepost.verify.plain.run import ENDED, PlainRun

NAME = "counter-proof"
WITHOUT = "without a test runner: "
MOST_QUESTIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A test of a file: all ids of it that differ in their parameters alone. Others than those that decide control."""

    place: str
    ids: tuple[str, ...]
    decides: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """What became of the tests of a file. `controlled`: a test that needs nothing of the change passed as well.

    `unsteady` passed, and failed when they were run once more in the same process.
    """

    path: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    broke: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    said: str = ""
    controlled: bool = False
    problem: str = ""
    result: CommandResult | None = None


def by_file(cases: Iterable[TestCase]) -> dict[str, list[Unit]]:
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


def weighed(path: str, units: tuple[Unit, ...], first: PlainRun, again: PlainRun) -> FileOutcome:
    """What two runs say of a file; what passed in one of them has passed."""
    tried = FileOutcome(path=path, problem=first.problem or again.problem, result=first.result)
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


def unsteady(units: tuple[Unit, ...], runs: Iterable[PlainRun]) -> tuple[Unit, ...]:
    """The deciding tests that pass once and fail by a comparison when they are run once more, each time.

    None where a control does not pass again either: the tests of the file share state among them.
    """
    each = [run.later for run in runs]
    if any(unit.place in later for later in each for unit in units if not unit.decides):
        return ()
    return tuple(
        unit
        for unit in units
        if unit.decides and all(later.get(unit.place, ("passed", ""))[0] == "failed" for later in each)
    )


def judged(tried: list[FileOutcome]) -> CheckResult:
    """What the plain runs come to: refused where all that decides fails by its comparisons, and a control passes."""
    passed = tuple(id_ for one in tried for id_ in one.passed)
    failed = tuple(id_ for one in tried for id_ in one.failed)
    broke = tuple(id_ for one in tried for id_ in one.broke)
    bad = (*failed, *broke)
    why = next((one.said for one in tried if one.failed or one.broke), "")
    if not bad and not passed:
        reasons = [f"{one.path}: {one.problem}" for one in tried if one.problem]
        return _result("absent", f"nothing could be run: {reasons[0] if reasons else 'no deciding test is plain'}")
    if not bad and (unsteady := tuple(id_ for one in tried for id_ in one.unsteady)):
        why = next(one.said for one in tried if one.unsteady)
        text = "passes only in the order of the file, or only the first time in a process: does it share state?"
        questions = tuple(Question(kind="counter-proof", text=f"{id_} {text}", path=file_of(id_)) for id_ in unsteady)
        said = f"{listed(unsteady)} fail{'s' if len(unsteady) == 1 else ''} when run once more, backwards ({why})"
        return replace(_result("held", said), questions=questions[:MOST_QUESTIONS])
    if not bad:
        return _result("passed", f"{len(passed)} deciding test{'s pass' if len(passed) > 1 else ' passes'} as well")
    if failed and not passed and all(one.controlled for one in tried if one.failed):
        return _result("failed", f"what decides passes only under a test runner: {listed(failed)} ({why})")
    text = f"{listed(bad)} {'fail' if len(bad) > 1 else 'fails'}, which passes under one ({why})"
    questions = tuple(
        Question(kind="counter-proof", text=f"{id_} passes only under a test runner", path=file_of(id_)) for id_ in bad
    )
    return replace(_result("held", text), questions=questions[:MOST_QUESTIONS])


def _result(outcome: CheckOutcome, said: str) -> CheckResult:
    return CheckResult(name=NAME, outcome=outcome, summary=f"{WITHOUT}{said}")
