"""What failed, in the lines that the next attempt is told."""

from __future__ import annotations

from typing import assert_never

from milepost.core.attempt import Attempt
from milepost.core.verdict import CheckResult
from milepost.repair.diagnosis.classify import classify

LONGEST = 12_000
LONGEST_EARLIER = 3_000
LONGEST_LOG = 4_000
LONGEST_DIFFS = 3_000
LONGEST_ADVICE = 1_000
TESTS_SHOWN = 20
LINES_OF_A_DIFF = 30


def what_failed(history: tuple[Attempt, ...], *, diffs: tuple[str, ...] = (), advice: str = "") -> tuple[str, ...]:
    """The evidence against each attempt in turn, the latest in most detail, within LONGEST bytes in all.

    `diffs` are what the attempts changed, in turn, and must not be done again; `advice` is the strategy's.
    """
    if not history:
        return ()
    told = _fitting(advice.splitlines(), LONGEST_ADVICE)
    earlier: tuple[str, ...] = ()
    for attempt in reversed(history[:-1]):
        earlier = (*_fitting(_brief(attempt), LONGEST_EARLIER - _total(earlier)), *earlier)
    refused = _refused(history, diffs)
    room = LONGEST - _total(earlier) - _total(told) - _total(refused)
    return (*earlier, *told, *_fitting(_detailed(history[-1]), room), *refused)


def _brief(attempt: Attempt) -> list[str]:
    lines = [_headline(attempt, check) for check in _failed_checks(attempt)]
    match attempt.outcome.status:
        case "gave_up":
            lines.append(f"attempt {attempt.number} gave up: {_last_words(attempt.outcome.said)}")
        case "timed_out":
            lines.append(f"attempt {attempt.number} ran out of time")
        case "limited":
            lines.append(f"attempt {attempt.number} was not made: the service was at its limit")
        case "spent":
            lines.append(f"attempt {attempt.number} ended with the task's budget")
        case "finished":
            pass
        case _ as never:
            assert_never(never)
    return lines


def _detailed(attempt: Attempt) -> list[str]:
    """The headlines come first: what is cut for want of room is the end."""
    lines = [*_brief(attempt), *_class(attempt)]
    for check in _failed_checks(attempt):
        lines += _failed_tests(check)
    for check in _failed_checks(attempt):
        lines += _log(check)
    return lines


def _class(attempt: Attempt) -> list[str]:
    failure = classify(attempt)
    if failure is None:
        return []
    about = f" ({failure.subject})" if failure.subject and failure.subject not in failure.summary else ""
    return [f"attempt {attempt.number} counts as: {failure.kind.replace('_', ' ')}{about}"]


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


def _refused(history: tuple[Attempt, ...], diffs: tuple[str, ...]) -> tuple[str, ...]:
    """What each attempt changed, in short, the latest surest of its room."""
    lines: tuple[str, ...] = ()
    for attempt, diff in reversed(list(zip(history, diffs, strict=False))):
        short = _short(attempt, diff)
        if short:
            lines = (*_fitting(short, LONGEST_DIFFS - _total(lines)), *lines)
    return lines


def _short(attempt: Attempt, diff: str) -> list[str]:
    changed = [line for line in diff.splitlines() if _changes(line)]
    shown = changed[:LINES_OF_A_DIFF]
    more = [f"  | and {len(changed) - len(shown)} more lines"] if len(changed) > len(shown) else []
    opening = f"what attempt {attempt.number} changed, which was rejected; the same change will fail again:"
    return [opening, *(f"  | {line}" for line in shown), *more] if shown else []


def _changes(line: str) -> bool:
    """Whether a line of a diff names a file or is added or taken away."""
    return line.startswith(("+", "-", "diff --git ")) and not line.startswith(("--- ", "+++ /dev/null"))


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
