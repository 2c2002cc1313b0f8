from __future__ import annotations

import subprocess
import sys

from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.verify.proof import to_json

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
EVIDENCE = judge("2" * 40, (CHECK,))


def test_a_proof_has_the_documented_shape() -> None:
    told = to_json(task="parse", run="7f3a", attempt=2, commit="3" * 40, evidence=EVIDENCE)

    assert told == {
        "task": "parse",
        "run": "7f3a",
        "attempt": 2,
        "verdict": "passed",
        "approved_by": "",
        "accepted_by": "",
        "confidence": 0.0,
        "commit": "3" * 40,
        "tree": "2" * 40,
        "from_base": [],
        "left_out": [],
        "own_tests": "",
        "exit_code_alone": [],
        "questions": [],
        "checks": [
            {
                "name": "pytest",
                "argv": ["pytest"],
                "exit_code": 0,
                "outcome": "passed",
                "decisive": True,
                "summary": "`pytest` exit 0",
                "tests": {"passed": 1, "failed": 0, "skipped": 1},
                "before": None,
                "cases": [
                    {"id": "t::a", "before": None, "outcome": "passed"},
                    {"id": "t::b", "before": None, "outcome": "skipped"},
                ],
                "environment": "",
                "duration_ms": 12,
                "log": "",
            }
        ],
        "enforced": ["network", "files"],
    }


def test_a_proof_without_a_milepost_has_no_commit() -> None:
    assert to_json(task="parse", run="7f3a", attempt=2, commit=None, evidence=EVIDENCE)["commit"] is None


def test_importing_the_checks_does_not_import_pydantic() -> None:
    code = "import sys, milepost.verify.verify, milepost.verify.proof; sys.exit('pydantic' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
