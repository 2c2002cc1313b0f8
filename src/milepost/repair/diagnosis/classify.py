"""The class of a failure, decided from evidence: exceptions, test outcomes, exit codes, missing files."""

from __future__ import annotations

from milepost.core.attempt import Attempt, Outcome
from milepost.core.failure_signature import signature
from milepost.core.failures import Failure, FailureClass, Severity
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Verdict
from milepost.repair.diagnosis.machine_fault import MachineFault, machine_fault
from milepost.repair.diagnosis.readings import (
    CheckReading,
    cause_rank,
    plain_name,
    reading_of_check,
    reading_of_outcome,
)

LONGEST_SUMMARY = 300

SEVERITIES: dict[FailureClass, Severity] = {
    FailureClass.CONTEXT_MISSING: "medium",
    FailureClass.CONTEXT_STALE: "medium",
    FailureClass.CONTEXT_OVERWHELMING: "medium",
    FailureClass.WRONG_FILE: "medium",
    FailureClass.FILE_NOT_FOUND: "medium",
    FailureClass.FILE_CONFLICT: "low",
    FailureClass.PARTIAL_CHANGE: "medium",
    FailureClass.INCOMPLETE_IMPLEMENTATION: "medium",
    FailureClass.REGRESSION: "high",
    FailureClass.SYNTAX_ERROR: "high",
    FailureClass.TYPE_ERROR: "medium",
    FailureClass.IMPORT_ERROR: "high",
    FailureClass.TEST_FAILURE: "medium",
    FailureClass.WRONG_APPROACH: "high",
    FailureClass.SCOPE_CREEP: "medium",
    FailureClass.TOOL_FAILURE: "medium",
    FailureClass.TIMEOUT: "medium",
    FailureClass.API_ERROR: "medium",
    FailureClass.UNKNOWN: "low",
}

# Which of several failed checks is about the cause: what was refused outright, then what the rest stands on.
_CHECKS_BY_CAUSE = (
    ("agent", "merge"),
    ("secrets", "names", "changed tests", "counter-proof", "audit"),
    ("scope",),
    ("files",),
    ("patch",),
    ("syntax",),
)
_FIRST_THAT_RUNS = len(_CHECKS_BY_CAUSE)  # what comes before is found by reading, and no machine's fault
_LATE_CHECKS = ("own tests", "done", "types", "lint", "coverage", "opinion")  # told of what the others let through


def classify(attempt: Attempt, *, task: Task | None = None, changed: tuple[str, ...] = ()) -> Failure | None:
    """What went wrong with an attempt; None when nothing did: what is held is a question, not a failure.

    With the task and the paths that git says changed, a change to some of the named files, and to
    none of them, are told from a file that is missing.
    """
    if attempt.evidence.verdict in (Verdict.PASSED, Verdict.HELD):
        return None
    failed = [check for check in attempt.evidence.checks if check.outcome == "failed"]
    if attempt.outcome.status != "finished":
        by_agent = next((check for check in failed if check.name == "agent"), None)
        reading, check = reading_of_outcome(attempt.outcome), by_agent or _spoken(attempt.outcome)
        return _failure(reading, check)
    if not failed:
        silence = _spoken(attempt.outcome, attempt.evidence.reason)
        return _failure(CheckReading(kind=FailureClass.UNKNOWN, text=attempt.evidence.reason), silence)
    readings = [(reading_of_check(check, task, changed), check) for check in failed]
    reading, check = min(readings, key=lambda pair: (_check_rank(pair[1]), *cause_rank(pair[0])))
    fault = machine_fault(check) if _check_rank(check) >= _FIRST_THAT_RUNS else None
    return _failure(reading, check) if fault is None else _of_machine(fault, check)


def _of_machine(fault: MachineFault, check: CheckResult) -> Failure:
    kind = FailureClass.TOOL_FAILURE
    return Failure(
        kind=kind,
        severity=SEVERITIES[kind],
        signature=signature(fault.what),
        summary=fault.what,
        check=check.name,
        machine=fault.advice,
    )


def _failure(reading: CheckReading, check: CheckResult) -> Failure:
    summary = check.summary.strip().partition("\n")[0]
    return Failure(
        kind=reading.kind,
        severity=reading.severity or SEVERITIES[reading.kind],
        signature=signature(reading.text or summary),
        summary=summary if len(summary) <= LONGEST_SUMMARY else summary[: LONGEST_SUMMARY - 1] + "…",
        subject=reading.subject,
        check=check.name,
    )


def _check_rank(check: CheckResult) -> int:
    name = plain_name(check)
    for rank, names in enumerate(_CHECKS_BY_CAUSE):
        if name in names:
            return rank
    return len(_CHECKS_BY_CAUSE) + (name in _LATE_CHECKS)


def _spoken(outcome: Outcome, reason: str = "") -> CheckResult:
    lines = [line for line in outcome.said.splitlines() if line.strip()]
    words = {
        "finished": reason,
        "gave_up": "the agent gave up",
        "timed_out": "the agent ran out of time",
        "limited": "the agent's service cannot be asked now",
        "spent": "the task's budget is spent",
    }
    said = f": {lines[-1].strip()}" if lines and outcome.status != "finished" else ""
    name = "agent" if outcome.status != "finished" else ""
    return CheckResult(name=name, outcome="failed", summary=words[outcome.status] + said)
