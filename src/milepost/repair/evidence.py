"""What failed, in the lines that the next attempt is told."""

from __future__ import annotations

from milepost.core.attempt import Attempt
from milepost.core.verdict import CheckResult

LONGEST = 12_000
LONGEST_EARLIER = 3_000
LONGEST_LOG = 4_000
TESTS_SHOWN = 20


def what_failed(history: tuple[Attempt, ...]) -> tuple[str, ...]:
    """The evidence against each attempt in turn, the latest in most detail, within LONGEST bytes in all."""
    if not history:
        return ()
    earlier: tuple[str, ...] = ()
    for attempt in reversed(history[:-1]):
        earlier = (*_fitting(_brief(attempt), LONGEST_EARLIER - _total(earlier)), *earlier)
    return (*earlier, *_fitting(_detailed(history[-1]), LONGEST - _total(earlier)))


def _brief(attempt: Attempt) -> list[str]:
    lines = [_headline(attempt, check) for check in _failed_checks(attempt)]
    match attempt.outcome.status:
        case "gave_up":
            lines.append(f"attempt {attempt.number} gave up: {_last_words(attempt.outcome.said)}")
        case "timed_out":
            lines.append(f"attempt {attempt.number} ran out of time")
        case "finished":
            pass
    return lines


def _detailed(attempt: Attempt) -> list[str]:
    """The headlines come first: what is cut for want of room is the end."""
    lines = _brief(attempt)
    for check in _failed_checks(attempt):
        lines += _failed_tests(check)
    for check in _failed_checks(attempt):
        lines += _log(check)
    return lines


def _failed_checks(attempt: Attempt) -> list[CheckResult]:
    return [check for check in attempt.evidence.checks if check.outcome == "failed"]


def _headline(attempt: Attempt, check: CheckResult) -> str:
    return f"attempt {attempt.number}: {check.name} failed: {check.summary}"


def _failed_tests(check: CheckResult) -> list[str]:
    failed = [case for case in check.cases if case.outcome == "failed"]
    lines = [f"  {case.id}: {case.message}" for case in failed[:TESTS_SHOWN]]
    hidden = len(failed) - len(lines)
    return [*lines, f"  and {hidden} more failed tests"] if hidden > 0 else lines


def _log(check: CheckResult) -> list[str]:
    if not check.log.strip():
        return []
    kept: list[str] = []
    room = LONGEST_LOG
    for line in reversed(check.log.splitlines()):
        room -= _size(line)
        if room < 0:
            break
        kept.insert(0, f"  | {line}")
    return [f"  the end of what {check.name} wrote:", *kept]


def _last_words(said: str) -> str:
    words = [line.strip() for line in said.splitlines() if line.strip()]
    return words[-1] if words else "it said nothing"


def _fitting(lines: list[str], room: int) -> tuple[str, ...]:
    """The first lines that fit; one that is longer than the room is cut, not dropped."""
    kept: list[str] = []
    for line in lines:
        if _size(line) > room:
            cut = line.encode("utf-8", errors="replace")[: max(0, room - _size("…"))].decode("utf-8", errors="ignore")
            return (*kept, f"{cut}…") if cut else tuple(kept)
        kept.append(line)
        room -= _size(line)
    return tuple(kept)


def _total(lines: tuple[str, ...]) -> int:
    return sum(_size(line) for line in lines)


def _size(line: str) -> int:
    return len(line.encode("utf-8", errors="replace")) + 1
