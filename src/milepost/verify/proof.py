"""The proof of a task as users read it: plain JSON values."""

from __future__ import annotations

from typing import Any

from milepost.core.approval import acceptor, approver
from milepost.core.basis import exit_codes_alone, own_tests
from milepost.core.verdict import CheckResult, Evidence, Question, TestCase


def to_json(*, task: str, run: str, attempt: int, commit: str | None, evidence: Evidence) -> dict[str, Any]:
    """What `milepost proof TASK --json` prints; `commit` is None for a task without a milepost."""
    return {"task": task, "run": run, "attempt": attempt, "commit": commit, **evidence_to_json(evidence)}


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    """The verdict on a tree, and what it rests on."""
    return {
        "verdict": evidence.verdict.value,
        "approved_by": approver(evidence),
        "accepted_by": acceptor(evidence),
        "confidence": evidence.confidence,
        "tree": evidence.tree,
        "from_base": list(evidence.from_base),
        "left_out": list(evidence.left_out),
        "own_tests": own_tests(evidence),
        "exit_code_alone": list(exit_codes_alone(evidence)),
        "questions": [_question_to_json(question) for question in evidence.questions],
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
        "before": check.before,
        "cases": [_case_to_json(case) for case in check.cases],
        "environment": check.environment,
        "duration_ms": check.duration_ms,
        "log": check.log_id,
    }


def _question_to_json(question: Question) -> dict[str, Any]:
    return {
        "kind": question.kind,
        "text": question.text,
        "path": question.path,
        "line": question.line,
        "before": question.before,
        "after": question.after,
    }


def _case_to_json(case: TestCase) -> dict[str, Any]:
    return {
        "id": case.id,
        "before": case.before,
        "outcome": case.outcome,
        **({"kind": case.kind, "message": case.message} if case.outcome == "failed" else {}),
        **({"flaky": True} if case.flaky else {}),
    }
