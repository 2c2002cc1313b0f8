"""Which error an attempt failed with, where others failed beside it."""

from __future__ import annotations

from milepost.core.attempt import Attempt, Outcome
from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.engine.memory.error_of_attempt import failed_with
from milepost.memory.recall.signature import signatures

MISSING = "E   ModuleNotFoundError: No module named 'app.t2'"
TYPE = "TypeError: make_slug() missing 1 required keyword-only argument: 'prefix'"
BESIDE = TestCase(id="tests/test_t2.py", outcome="failed", traceback=MISSING, before="failed")
OWN = TestCase(id="tests/test_t1.py::test_slug", outcome="failed", message=TYPE, traceback=f"E   {TYPE}")


def attempt(*cases: TestCase, log: str = "", passed: bool = False) -> Attempt:
    check = CheckResult(
        name="tests", outcome="passed" if passed else "failed", summary="", cases=cases, log=log, decisive=True
    )
    return Attempt(
        number=1,
        agent="command:x",
        base="0" * 40,
        commit="1" * 40,
        outcome=Outcome(status="finished"),
        evidence=judge("2" * 40, (check,)),
        duration_ms=1,
    )


def test_the_error_that_was_mended_is_told_from_those_that_were_there_before_and_stay() -> None:
    for beside in (BESIDE, TestCase(id=BESIDE.id, outcome="failed", traceback=MISSING)):
        error = failed_with(attempt(beside, OWN), attempt(BESIDE, passed=True), str)
        assert error is not None and error.name == "TypeError"
        assert error.signature.endswith("make_slug() missing 1 required keyword-only argument: <name>")
        assert error.known_by == signatures(TYPE)


def test_no_error_is_named_where_it_is_not_certain_which_was_mended() -> None:
    other = TestCase(id="tests/test_t1.py::test_other", outcome="failed", traceback="E   KeyError: 'house'")
    assert failed_with(attempt(OWN, other), attempt(passed=True), str) is None
    assert failed_with(attempt(BESIDE), attempt(passed=True), str) is None
    assert failed_with(attempt(log="it went wrong"), None, str) is None


def test_where_no_test_says_more_the_log_does() -> None:
    error = failed_with(attempt(log=f"Traceback:\n{TYPE}\n"), None, str)
    assert error is not None and (error.name, error.known_by) == ("TypeError", signatures(TYPE))
