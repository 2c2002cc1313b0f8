from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from milepost.core.change import Change
from milepost.core.verdict import Question, TestCase
from milepost.verify.checks.changed_tests import ChangedTestsCheck, _each_once
from milepost.verify.judging.changed_tests import LostTest


def _changed(test: str, before: str = "f() == 1", after: str = "f() == 2") -> Question:
    return Question(kind="changed test", text=test, path="test_a.py", line=3, before=before, after=after)


def test_a_change_of_one_function_is_one_question_however_many_tests_it_is() -> None:
    asked = _each_once([_changed("t[1]"), _changed("u", after="f() == 3"), _changed("t[2]"), _changed("t[3]")])

    assert [one.text for one in asked] == ["t[1] (and 2 more like it)", "u"]


def test_questions_that_show_no_expectation_stay_apart() -> None:
    gone = (_changed("t", "", ""), _changed("u", "", ""))

    assert _each_once(gone) == gone


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (["test_a.py::t[1-2]", "test_a.py::t[3-3]"], "an expectation changed with the behaviour"),
        (["test_a.py::t[3-3]"], "a test was removed that fails now"),
    ],
    ids=["other parameters", "one less"],
)
def test_parameters_that_were_replaced_are_an_expectation(now: list[str], said: str) -> None:
    was = [TestCase(id=f"test_a.py::t[{name}]", outcome="failed") for name in ("1-1", "3-3")]
    runs: Any = SimpleNamespace(
        on_bench=((None, SimpleNamespace(cases=was)),),
        now={name: TestCase(id=name, outcome="passed") for name in now},
    )
    check = ChangedTestsCheck(runs=runs, change=Change(), before=None)

    assert check._words_for(LostTest(test="test_a.py::t[1-1]", became="removed")) == said
