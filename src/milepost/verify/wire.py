"""Evidence and attempts as plain JSON values, and the proof that users read."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from milepost.core.attempt import Attempt
from milepost.core.verdict import CheckResult, Evidence

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def evidence_to_wire(evidence: Evidence) -> dict[str, Any]:
    return _plain(_evidence_adapter().dump_python(evidence, mode="json"))


def evidence_from_wire(wire: object) -> Evidence:
    """Evidence from its plain form; pydantic's ValidationError (a ValueError) when it is none."""
    return _evidence_adapter().validate_python(wire)


def attempt_to_wire(attempt: Attempt) -> dict[str, Any]:
    return _plain(_attempt_adapter().dump_python(attempt, mode="json"))


def attempt_from_wire(wire: object) -> Attempt:
    """An attempt from its plain form; pydantic's ValidationError (a ValueError) when it is none."""
    return _attempt_adapter().validate_python(wire)


def proof(*, task: str, run: str, attempt: int, commit: str, evidence: Evidence) -> dict[str, Any]:
    """What `milepost proof TASK --json` prints and what the commit's note holds."""
    return {
        "task": task,
        "run": run,
        "attempt": attempt,
        "verdict": evidence.verdict.value,
        "commit": commit,
        "tree": evidence.tree,
        "checks": [_proof_of_check(check) for check in evidence.checks],
        "enforced": list(evidence.enforced),
    }


def _proof_of_check(check: CheckResult) -> dict[str, Any]:
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


def _plain(dumped: Any) -> dict[str, Any]:
    assert isinstance(dumped, dict)
    return dumped


@cache
def _evidence_adapter() -> TypeAdapter[Evidence]:
    from pydantic import TypeAdapter

    return TypeAdapter(Evidence)


@cache
def _attempt_adapter() -> TypeAdapter[Attempt]:
    from pydantic import TypeAdapter

    return TypeAdapter(Attempt)
