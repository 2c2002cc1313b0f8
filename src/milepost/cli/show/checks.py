"""Checks as a person reads them: what was run, how it stood before, how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.cli.format_text import clipped, duration, padded, wrapped

if TYPE_CHECKING:
    from milepost import CheckResult, Evidence

AUTHORS_OWN = "verify"  # the command is the author's; of the others it is ours, and the answer tells more
TESTS_SHOWN = 5
LOG_LINES_SHOWN = 8
_SIGNS = {"passed": "ok", "failed": "failed", "held": "held", "absent": "–"}


def check_lines(evidence: Evidence, width: int) -> list[str]:
    """A line for each check that had something to ask, and below them the details of those that failed."""
    asked = [check for check in evidence.checks if check.outcome != "absent"]
    unable = [check for check in evidence.checks if check.outcome == "absent" and "could not" in check.summary]
    quiet = [check.name for check in evidence.checks if check.outcome == "absent" and check not in unable]
    silent = dict.fromkeys(name for name in quiet if name not in {check.name for check in asked})
    name_width = max([12, *(len(check.name) + 1 for check in asked)])
    what_width = max(20, width - name_width - 38)
    heading = f"{padded('check', name_width)} {padded('details', what_width)}  {'before':<10} {'after':<12}"
    lines = [heading.rstrip()]
    lines += [_line(check, name_width, what_width) for check in asked]
    margin = " " * (name_width + 1)
    for check in unable:
        lines += wrapped(f"{check.name}: {check.summary}", width, indent=0)
    if silent:
        said = wrapped(f"not applicable: {', '.join(silent)}", width, indent=name_width + 1)
        lines += [f"{padded('–', name_width)} {said[0].strip()}", *said[1:]]
    for check in asked:
        if check.outcome == "failed":
            lines += _details(check, width, margin)
    return lines


def _line(check: CheckResult, name_width: int, what_width: int) -> str:
    what = check.line if check.name == AUTHORS_OWN else check.summary
    took = duration(check.duration_ms) if check.argv else ""
    row = (
        f"{padded(check.name, name_width)} {padded(what, what_width)}  {_before(check):<10} {_after(check):<12} {took}"
    )
    return row.rstrip()


def _before(check: CheckResult) -> str:
    known = [case for case in check.cases if case.before is not None]
    if known:
        return f"{sum(case.before == 'passed' for case in known)} of {len(known)}"
    return _SIGNS[check.before] if check.before else "–"


def _after(check: CheckResult) -> str:
    if check.cases:
        return f"{check.count('passed')} of {len(check.cases)}"
    by_author = check.name == AUTHORS_OWN and check.outcome == "failed" and check.exit_code
    return f"exit {check.exit_code}" if by_author else _SIGNS[check.outcome]


def _details(check: CheckResult, width: int, margin: str) -> list[str]:
    failed = [case for case in check.cases if case.outcome == "failed"]
    tests = [f"{case.id}: {case.message}{' (flaky)' if case.flaky else ''}" for case in failed[:TESTS_SHOWN]]
    log = check.log.splitlines()[-LOG_LINES_SHOWN:]
    lines = [check.summary, *tests, *log]
    said = wrapped(f"{check.name}: {lines[0]}", width, indent=0)
    return ["", *said, *(clipped(f"{margin}{line}", width) for line in lines[1:])]
