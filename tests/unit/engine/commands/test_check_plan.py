"""What the answer to a Verify line before the work means."""

from __future__ import annotations

import pytest

from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.engine.commands.check_plan import standing

TASK = Task(id="1", title="Add area.py", status="open", line=1)


@pytest.mark.parametrize(
    ("outcome", "code", "log", "state"),
    [
        ("passed", 0, "ok  \tshop\t0.002s [no tests to run]", "selects no test"),
        ("passed", 0, "?   \tshop\t[no test files]", "selects no test"),
        ("passed", 0, "running 0 tests\n\ntest result: ok. 0 passed; 0 failed", "selects no test"),
        ("passed", 0, "running 2 tests\n...\nrunning 0 tests\n\ntest result: ok.", "passes already"),
        ("passed", 0, "", "passes already"),
        ("failed", 1, "Ran 0 tests in 0.0s", "selects no test"),
        ("failed", 127, "sh: tox: not found", "cannot run"),
        ("failed", None, "", "cannot run"),
        ("failed", 4, "ImportError while loading conftest '/x/conftest.py'.", "cannot run"),
        ("failed", 2, "E   ModuleNotFoundError: No module named 'numpy'", "cannot run"),
        ("failed", 2, "E   ModuleNotFoundError: No module named 'area'", "fails now"),
        ("failed", 1, "AssertionError", "fails now"),
        ("absent", None, "", "cannot run"),
    ],
)
def test_an_answer_is_told_by_what_it_shows(outcome: str, code: int | None, log: str, state: str) -> None:
    result = CheckResult(name="verify", outcome=outcome, summary="`x` timed out", exit_code=code, log=log)  # type: ignore[arg-type]
    assert standing(TASK, "x", result).state == state
