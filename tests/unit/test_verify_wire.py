from __future__ import annotations

import json
import subprocess
import sys

import pytest

from milepost.core.attempt import Attempt, Outcome
from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.verify.wire import attempt_from_wire, attempt_to_wire, evidence_from_wire, evidence_to_wire, proof

CHECK = CheckResult(
    name="pytest",
    outcome="passed",
    summary="`pytest` exit 0",
    decisive=True,
    argv=("pytest",),
    exit_code=0,
    cases=(
        TestCase(id="t::a", outcome="passed", duration_ms=3),
        TestCase(id="t::b", outcome="skipped", message="later"),
    ),
    log="ä\n",
    duration_ms=12,
    enforced=("network", "files"),
)
ATTEMPT = Attempt(
    number=2,
    agent="command:x",
    base="0" * 40,
    commit="1" * 40,
    outcome=Outcome(status="gave_up", said="…", cost_usd=0.25),
    evidence=judge("2" * 40, (CHECK,)),
    duration_ms=5,
)


def test_what_goes_over_the_wire_comes_back_equal() -> None:
    assert attempt_from_wire(json.loads(json.dumps(attempt_to_wire(ATTEMPT)))) == ATTEMPT
    assert evidence_from_wire(json.loads(json.dumps(evidence_to_wire(ATTEMPT.evidence)))) == ATTEMPT.evidence


@pytest.mark.parametrize("change", [{"verdict": "splendid"}, {"checks": [{"name": "x"}]}, {"tree": None}])
def test_what_is_no_evidence_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        evidence_from_wire({**evidence_to_wire(ATTEMPT.evidence), **change})


def test_a_proof_has_the_documented_shape() -> None:
    told = proof(task="parse", run="7f3a", attempt=2, commit="3" * 40, evidence=ATTEMPT.evidence)

    assert told == {
        "task": "parse",
        "run": "7f3a",
        "attempt": 2,
        "verdict": "passed",
        "commit": "3" * 40,
        "tree": "2" * 40,
        "checks": [
            {
                "name": "pytest",
                "argv": ["pytest"],
                "exit_code": 0,
                "outcome": "passed",
                "decisive": True,
                "summary": "`pytest` exit 0",
                "tests": {"passed": 1, "failed": 0, "skipped": 1},
                "cases": [{"id": "t::a", "outcome": "passed"}, {"id": "t::b", "outcome": "skipped"}],
                "duration_ms": 12,
            }
        ],
        "enforced": ["files", "network"],
    }


def test_importing_the_checks_does_not_import_pydantic() -> None:
    code = "import sys, milepost.verify.verify, milepost.verify.wire; sys.exit('pydantic' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
