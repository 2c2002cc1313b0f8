from __future__ import annotations

from milepost.core.verdict import Question
from milepost.verify.checks.changed_tests import _each_once


def _changed(test: str, before: str = "f() == 1", after: str = "f() == 2") -> Question:
    return Question(kind="changed test", text=test, path="test_a.py", line=3, before=before, after=after)


def test_a_change_of_one_function_is_one_question_however_many_tests_it_is() -> None:
    asked = _each_once([_changed("t[1]"), _changed("u", after="f() == 3"), _changed("t[2]"), _changed("t[3]")])

    assert [one.text for one in asked] == ["t[1] (and 2 more like it)", "u"]


def test_questions_that_show_no_expectation_stay_apart() -> None:
    gone = (_changed("t", "", ""), _changed("u", "", ""))

    assert _each_once(gone) == gone
