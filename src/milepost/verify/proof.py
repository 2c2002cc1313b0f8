"""The proof of a task as users read it: plain JSON values."""

from __future__ import annotations

from typing import Any

from milepost.core.verdict import CheckResult, Evidence


def to_json(*, task: str, run: str, attempt: int, commit: str | None, evidence: Evidence) -> dict[str, Any]:
    """What `milepost proof TASK --json` prints; `commit` is None for a task without a milepost."""
    return {
        "task": task,
        "run": run,
        "attempt": attempt,
        "verdict": evidence.verdict.value,
        "commit": commit,
        "tree": evidence.tree,
        "checks": [_check_to_json(check) for check in evidence.checks],
        "enforced": list(evidence.enforced),
    }


def _check_to_json(check: CheckResult) -> dict[str, Any]:
    return {
        "name": check.name,
        "argv": list(check.argv),
        "exit_code": check.exit_code,
        "outcome": check.outcome,
        "decisive": check.decisive,
        "summary": check.summary,
        "tests": {outcome: check.count(outcome) for outcome in ("passed", "failed", "skipped")},
        "cases": [{"id": case.id, "outcome": case.outcome} for case in check.cases],
        "duration_ms": check.duration_ms,
    }
