"""How far an attempt came, and whether a later one came further."""

from __future__ import annotations

from milepost.core.attempt import Attempt
from milepost.core.verdict import TestCase, Verdict

# What must hold before the next can be asked. A check that is not named here stands with the tests.
_STAGES = (
    ("agent", "merge"),
    ("files",),
    ("secrets", "names", "changed tests", "counter-proof", "audit", "scope"),
    ("patch", "syntax"),
    ("environment", "imports"),
    ("runtime",),
    ("tests", "verify", "hidden tests", "independent tests"),
    ("own tests", "done", "stubs", "types", "lint", "coverage", "opinion"),
)
_TESTS = 6


def failing(attempt: Attempt) -> frozenset[str]:
    """What failed in an attempt: tests by their ids, and the checks that failed for another reason."""
    names: set[str] = set()
    for check in attempt.evidence.checks:
        if check.outcome == "failed":
            blamed = [case.id for case in check.cases if case.outcome == "failed" and case.before != "failed"]
            still = [case.id for case in check.cases if case.outcome == "failed"]
            names.update(blamed or still or [_name(check.name, check.argv)])
    if attempt.outcome.status != "finished":
        names.add("agent")
    return frozenset(names)


def stage(attempt: Attempt) -> int:
    """The first thing that did not hold: the later, the further the attempt came."""
    if attempt.outcome.status != "finished":
        return 0
    names = [check.name.partition(" (")[0] for check in attempt.evidence.checks if check.outcome == "failed"]
    return min((_stage_of(name) for name in names), default=len(_STAGES))


def further(one: Attempt, other: Attempt) -> bool:
    """Whether `other` came further than `one`: to a later stage, or as far with fewer failures."""
    if other.evidence.verdict is Verdict.PASSED:
        return one.evidence.verdict is not Verdict.PASSED
    there, here = stage(one), stage(other)
    return here > there or (here == there and len(failing(other)) < len(failing(one)))


def shrinking(history: tuple[Attempt, ...]) -> bool:
    """Whether the last attempt left less to mend than the one before it, or than the base for a first one."""
    if len(history) > 1:
        return further(history[-2], history[-1])
    cases = _cases(history[-1])
    mended = any(case.outcome == "passed" and case.before == "failed" for case in cases)
    return mended and not regressed(history[-1])


def regressed(attempt: Attempt) -> frozenset[str]:
    """The tests that passed at the base and fail now."""
    return frozenset(case.id for case in _cases(attempt) if case.outcome == "failed" and case.before == "passed")


def _cases(attempt: Attempt) -> tuple[TestCase, ...]:
    return tuple(case for check in attempt.evidence.checks for case in check.cases)


def _name(name: str, argv: tuple[str, ...]) -> str:
    """What a check is called; of several `Verify:` lines each by its command, which is its author's own words."""
    return " ".join((name, *argv)) if name == "verify" else name


def _stage_of(name: str) -> int:
    return next((place for place, names in enumerate(_STAGES) if name in names), _TESTS)
