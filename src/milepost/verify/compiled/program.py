"""What a program of drawn tests told, and what two runs of it come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from milepost.core.commands import CommandResult
from milepost.verify.compiled.drawn import DrawnTest
from milepost.verify.plain.outcome import Unit
from milepost.verify.plain.run import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEndings:
    """How the tests of one run ended, by their drawn names; those that are not there did not come to their end."""

    endings: Mapping[str, tuple[Word, str]] = field(default_factory=dict)
    problem: str = ""
    result: CommandResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOutcome:
    """What became of the deciding tests of a program, by id.

    `fits_all` pass in every copy that expects another value, `fits_some` in one of several, or where no copy is sure
    to be asked. `refused` is why the
    program is not believed at all, `problem` why it could not be run.
    """

    place: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    broke: tuple[str, ...] = ()
    said: str = ""
    controlled: bool = False
    tried: tuple[str, ...] = ()
    fits_all: tuple[str, ...] = ()
    fits_some: tuple[str, ...] = ()
    refused: str = ""
    problem: str = ""
    result: CommandResult | None = None


def outcome(
    place: str, units: tuple[Unit, ...], tests: tuple[DrawnTest, ...], first: TestEndings, again: TestEndings
) -> ProgramOutcome:
    """What two runs say of a program: what passed once has passed, and what must fail must fail once."""
    if first.problem:
        return ProgramOutcome(place=place, problem=first.problem, result=first.result)

    def ending(test: DrawnTest) -> tuple[Word, str]:
        one = first.endings.get(test.name, ("broke", "the program ended before it"))
        other = again.endings.get(test.name, one)
        must_fail = test.kind != "test"
        return other if (other[0] == "passed") != must_fail else one

    if any(test.kind == "planted" and ending(test)[0] == "passed" for test in tests):
        return ProgramOutcome(place=place, refused="a planted test that must fail did not", result=first.result)
    words: dict[str, list[str]] = {
        "passed": [],
        "failed": [],
        "broke": [],
        "tried": [],
        "all": [],
        "some": [],
        "none": [],
    }
    said, controlled = "", False
    own = {test.of: ending(test) for test in tests if test.kind == "test"}
    for unit in units:
        word, text = own.get(unit.place, ("unfit", ""))
        if not unit.decides:
            controlled = controlled or word == "passed"
            if word in ("failed", "broke"):
                return ProgramOutcome(place=place, problem=f"{unit.place} fails as well: {text}", result=first.result)
            continue
        words.setdefault(word, []).extend(unit.ids)
        said = said or (text if word in ("failed", "broke") else "")
        copies = [(ending(test)[0], test.sure) for test in tests if test.kind == "otherwise" and test.of == unit.place]
        if copies and word == "passed":
            words["tried"] += unit.ids[:1]
            words[_fit(copies)] += unit.ids[:1]
        alike = [test for test in tests if test.kind == "built" and test.sure and test.of == unit.place]
        if alike and word == "passed":
            words["tried"] += unit.ids[:1] if not copies else ()
            words["some"] += unit.ids[:1] if any(ending(test)[0] == "passed" for test in alike) else ()
    return ProgramOutcome(
        place=place,
        passed=tuple(words["passed"]),
        failed=tuple(words["failed"]),
        broke=tuple(words["broke"]),
        said=said,
        controlled=controlled,
        tried=tuple(words["tried"]),
        fits_all=tuple(words["all"]),
        fits_some=tuple(words["some"]),
        result=first.result,
    )


def _fit(copies: list[tuple[Word, bool]]) -> str:
    """How many of the copies of a test pass: all, some that are sure, none."""
    every = all(word == "passed" for word, _ in copies)
    if every and any(sure for _, sure in copies):
        return "all"
    return "some" if every or any(word == "passed" and sure for word, sure in copies) else "none"


def both(tests: TestEndings, others: TestEndings) -> TestEndings:
    """What the tests told, with the copies that were run apart; these say nothing where they could not be run."""
    return replace(tests, endings={**others.endings, **tests.endings})


def is_odd(told: TestEndings, tests: tuple[DrawnTest, ...]) -> bool:
    """Whether a test did not end as it must, so that another run is to confirm it."""
    return any((told.endings.get(test.name, ("broke", ""))[0] == "passed") != (test.kind == "test") for test in tests)
