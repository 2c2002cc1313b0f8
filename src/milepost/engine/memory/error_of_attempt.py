"""What an attempt failed with; and the one error, where it is certain which: name and signatures are of one text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from milepost.core.attempt import Attempt
from milepost.core.failure_signature import signature
from milepost.core.verdict import CheckResult, TestCase
from milepost.memory.recall.signature import signatures
from milepost.repair.diagnosis.clues import error_line, exception_name

LONGEST_READ = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedWith:
    """An error: `signature` is what runs know it by, `known_by` what lessons are found by."""

    name: str
    signature: str
    known_by: tuple[str, ...]


def failed_with(attempt: Attempt, accepted: Attempt | None, redact: Callable[[str], str]) -> FailedWith | None:
    """What an attempt failed with and the accepted one did not; None where several errors could be meant.

    A test that failed at the base, or fails still in the attempt that was accepted, says nothing of the attempt.
    """
    found = [error for text in errors_of(attempt, redact, accepted) if (error := _error(text)) is not None]
    return found[0] if len({error.name for error in found}) == 1 else None


def errors_of(attempt: Attempt, redact: Callable[[str], str], accepted: Attempt | None = None) -> tuple[str, ...]:
    """The texts of all that an attempt failed with; none where its agent did not finish."""
    if attempt.outcome.status != "finished":
        return ()
    failed = [check for check in attempt.evidence.checks if check.outcome == "failed"]
    beside = _failing_anyway(attempt, accepted)
    return tuple(redact(text) for check in failed for text in _texts(check, beside))


def _failing_anyway(attempt: Attempt, accepted: Attempt | None) -> frozenset[str]:
    before = {case.id for case in _failed_cases(attempt) if case.before == "failed"}
    after = {case.id for case in _failed_cases(accepted)} if accepted is not None else set()
    return frozenset(before | after)


def _failed_cases(attempt: Attempt) -> Iterator[TestCase]:
    yield from (case for check in attempt.evidence.checks for case in check.cases if case.outcome == "failed")


def _texts(check: CheckResult, beside: frozenset[str]) -> Iterator[str]:
    """What a failed check says of errors: its tests, or what it wrote where no test says more."""
    failed = [case for case in check.cases if case.outcome == "failed"]
    if not failed:
        yield check.log[-LONGEST_READ:] if check.log.strip() else check.summary
    for case in failed:
        if case.id not in beside and not case.flaky:
            yield case.traceback[-LONGEST_READ:] if signatures(case.traceback) else case.message


def _error(text: str) -> FailedWith | None:
    line, known_by = error_line(text), signatures(text)
    name = exception_name(line)
    if not known_by or name.lower() not in known_by[-1]:
        return None
    return FailedWith(name=name or "Error", signature=signature(line), known_by=known_by)
