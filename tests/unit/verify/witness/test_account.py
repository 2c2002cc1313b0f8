from __future__ import annotations

import pytest

from milepost.verify.witness.account import Account, account_of
from milepost.verify.witness.stream import Testimony

Facts = tuple[tuple[str, ...], ...]

TOKENS = ("one", "two")
PLANTED: Facts = (("planted", "p", "one"), ("planted", "q", "two"))
FAILED_AS_THEY_MUST: Facts = (
    ("raised", "p", "call", "AssertionError Exception", "one\nassert 1 == 2"),
    ("report", "p", "call", "failed", "0", "AssertionError: one", ""),
    ("over", "p", ""),
    ("raised", "q", "call", "AssertionError", "1 != 2 : two"),
    ("report", "q", "call", "failed", "0", "AssertionError: 1 != 2 : two", ""),
    ("over", "q", ""),
)
END: Facts = (("end", "1"),)


def account(*facts: tuple[str, ...], planted: Facts = FAILED_AS_THEY_MUST, end: Facts = END) -> Account:
    told = (("hello", "pytest 9"), ("items", "t.py::a", "t.py::b"), *PLANTED, *facts, *planted, *end)
    return account_of(Testimony(facts=told), TOKENS)


A_PASSED = ("over", "t.py::a", "3")
B_PASSED = ("over", "t.py::b", "4")
B_RAISED = ("raised", "t.py::b", "call", "KeyError LookupError Exception", "'x'")
B_FAILED = ("report", "t.py::b", "call", "failed", "4", "KeyError: 'x'", "def b(): …")
B_ENDED = ("over", "t.py::b", "")


def test_tests_that_came_to_their_end_are_told_as_they_ended() -> None:
    told = account(A_PASSED, B_RAISED, B_FAILED, B_ENDED)

    assert (told.problem, told.exit_code, told.runner) == ("", 1, "pytest 9")
    assert [(case.id, case.outcome, case.message, case.duration_ms, case.kind) for case in told.cases] == [
        ("t.py::a", "passed", "", 3, None),
        ("t.py::b", "failed", "KeyError: 'x'", 4, "runtime"),
    ]


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ((A_PASSED,), "1 of 2 collected tests were not run: t.py::b"),
        ((A_PASSED, B_RAISED, B_PASSED), "t.py::b raised KeyError, yet it is reported as passed"),
        ((A_PASSED, B_RAISED, B_ENDED), "t.py::b came to no outcome"),
        ((A_PASSED, B_PASSED, ("over", "t.py::c", "1")), "t.py::c was reported, but never collected"),
        ((A_PASSED, B_PASSED, ("praise", "t.py::b")), "'praise' is nothing that the witness says"),
        ((A_PASSED, B_PASSED, ("end", "0")), "something was said after the end"),
    ],
)
def test_a_testimony_that_contradicts_itself_is_not_believed(facts: Facts, problem: str) -> None:
    assert account(*facts).problem == problem


@pytest.mark.parametrize(
    "planted",
    [
        (),
        FAILED_AS_THEY_MUST[:3],
        (("over", "p", "1"), *FAILED_AS_THEY_MUST[3:]),
        (("report", "p", "call", "skipped", "0", "", ""), ("over", "p", ""), *FAILED_AS_THEY_MUST[3:]),
        (("raised", "p", "call", "AssertionError", "other"), *FAILED_AS_THEY_MUST[1:]),
        (FAILED_AS_THEY_MUST[0], ("over", "p", "1"), *FAILED_AS_THEY_MUST[3:]),
    ],
)
def test_planted_tests_must_fail_with_their_own_words(planted: Facts) -> None:
    assert account(A_PASSED, B_PASSED, planted=planted).problem.startswith("a planted test that must fail")


def test_a_planted_test_may_be_stopped_by_what_the_project_does_before_each() -> None:
    stopped: Facts = (("report", "p", "setup", "skipped", "0", "", ""), ("over", "p", ""), *FAILED_AS_THEY_MUST[3:])

    assert account(A_PASSED, B_PASSED, planted=stopped).problem == ""


def test_a_test_that_is_run_again_by_the_project_is_what_it_came_to_last() -> None:
    again: Facts = (
        B_RAISED,
        ("report", "t.py::b", "call", "rerun", "1", "KeyError", ""),
        ("raised", "t.py::b", "call", "", ""),
        B_PASSED,
    )

    told = account(A_PASSED, *again)

    assert (told.problem, [case.outcome for case in told.cases]) == ("", ["passed", "passed"])


def test_deselected_tests_are_told_as_skipped() -> None:
    told = account(A_PASSED, ("deselected", "t.py::b"), ("deselected", "t.py::z"))

    assert [(case.id, case.outcome, case.message) for case in told.cases] == [
        ("t.py::a", "passed", ""),
        ("t.py::b", "skipped", "deselected"),
        ("t.py::z", "skipped", "deselected"),
    ]


def test_without_an_end_it_is_told_what_was_running() -> None:
    silent = account(A_PASSED, planted=(), end=())
    crashed = account(A_PASSED, planted=(), end=(("crash", "SystemExit", "0"),))

    assert (silent.exit_code, silent.running, silent.problem) == (None, "t.py::b", "")
    assert (crashed.exit_code, crashed.problem) == (None, "SystemExit: 0")
