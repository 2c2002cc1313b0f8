from __future__ import annotations

from collections.abc import Mapping

import pytest

from milepost.core.task import Task
from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.judging.changed_tests import (
    asks_for_removal,
    changed_files_of,
    is_answered,
    lost_tests,
    rewritten,
)
from milepost.verify.judging.split import Split

SPLIT = Split(tests=("tests/test_a.py",), restored=("tests/test_a.py",))


def cases(outcomes: Mapping[str, TestOutcome]) -> dict[str, TestCase]:
    return {name: TestCase(id=name, outcome=outcome, message="boom") for name, outcome in outcomes.items()}


@pytest.mark.parametrize(
    ("now", "answered"),
    [
        pytest.param({"tests/test_a.py::a": "passed"}, True, id="it passes as it is now"),
        pytest.param({"tests/test_a.py::a": "failed"}, False, id="it fails as it is now"),
        pytest.param({"tests/test_a.py::a": "skipped"}, False, id="it is skipped now"),
        pytest.param({"tests/test_a.py::b": "passed"}, True, id="it went from a file that was changed"),
        pytest.param({"tests/test_a.py": "failed"}, False, id="its file cannot be collected now"),
    ],
)
def test_a_lost_test_is_answered_by_what_the_attempt_made_of_it(now: Mapping[str, TestOutcome], answered: bool) -> None:
    assert is_answered("tests/test_a.py::a", cases(now), SPLIT) is answered


def test_a_test_that_went_from_a_file_nobody_changed_is_not_answered() -> None:
    assert not is_answered("tests/test_b.py::a", cases({}), SPLIT)


def test_a_red_test_that_is_green_only_since_it_was_changed_is_found_out() -> None:
    now = cases({"tests/test_a.py::a": "passed", "tests/test_b.py::b": "passed"})

    assert rewritten(("tests/test_a.py::a", "tests/test_b.py::b"), now, SPLIT) == ("tests/test_a.py::a",)
    assert rewritten(("tests/test_a.py",), now, SPLIT) == ("tests/test_a.py",)  # it could not be collected before


@pytest.mark.parametrize(
    ("now", "on_old_source", "became"),
    [
        pytest.param({"tests/test_a.py::a": "passed"}, {"tests/test_a.py::a": "failed"}, "changed", id="changed"),
        pytest.param({"tests/test_a.py::a": "passed"}, {"tests/test_a.py::a": "passed"}, "dropped", id="dropped"),
        pytest.param({"tests/test_a.py::a": "passed"}, None, "changed", id="not known on the old source"),
        pytest.param({}, {}, "removed", id="removed"),
    ],
)
def test_what_became_of_a_test_is_told_by_running_it(
    now: Mapping[str, TestOutcome], on_old_source: Mapping[str, TestOutcome] | None, became: str
) -> None:
    bench = cases({"tests/test_a.py::a": "failed"})

    (found,) = lost_tests(("tests/test_a.py::a",), bench, cases(now), on_old_source, SPLIT)

    assert (found.became, found.why) == (became, "boom")


def test_a_test_that_nobody_touched_passes_by_other_settings() -> None:
    now = cases({"tests/test_b.py::b": "passed"})

    (found,) = lost_tests(("tests/test_b.py::b",), cases({"tests/test_b.py::b": "failed"}), now, {}, SPLIT)

    assert found.became == "settings"


def test_source_that_compiles_only_with_what_the_attempt_added_is_a_question_and_no_failure() -> None:
    split = Split(judged=("src/lib.rs",), left_out=("build.rs",))
    now = cases({"src/lib.rs::tests::sos": "passed"})

    assert is_answered("src/lib.rs", now, split)
    (found,) = lost_tests(("src/lib.rs",), cases({"src/lib.rs": "failed"}), now, {}, split)
    assert found.became == "settings"
    assert not is_answered("src/lib.rs", cases({"src/lib.rs": "failed", "src/a.rs::tests::b": "passed"}), split)
    assert not is_answered("src/lib.rs", cases({}), split)


def test_a_file_that_cannot_be_collected_any_more_stands_for_its_tests_only_once() -> None:
    bench = cases({"tests/test_a.py": "failed"})

    found = lost_tests(("tests/test_a.py", "tests/test_a.py::a", "tests/test_a.py::b"), bench, {}, {}, SPLIT)

    assert [(one.test, one.why) for one in found] == [("tests/test_a.py::a", "boom"), ("tests/test_a.py::b", "boom")]


@pytest.mark.parametrize(
    ("title", "asks"),
    [
        ("Remove the old parser", True),
        ("dev: stop raising a warning, and drop the tests for it", True),
        ("Deprecate __version__", True),
        ("Add a parser", False),
        ("Handle dropdown menus", False),
    ],
)
def test_words_of_a_task_that_ask_for_removal(title: str, asks: bool) -> None:
    assert asks_for_removal(Task(id="1", title=title, status="open", line=1)) is asks


def test_a_go_test_is_of_the_changed_test_files_of_its_folder() -> None:
    split = Split(restored=("flag_test.go", "sub/a_test.go"), tests=("flag_test.go", "sub/a_test.go"))

    assert changed_files_of(".::TestHelp", split) == ("flag_test.go",)
    assert changed_files_of("sub::TestHelp", split) == ("sub/a_test.go",)
    assert not changed_files_of("other::TestHelp", split)
    (one,) = lost_tests((".::TestHelp",), {}, {".::TestHelp": TestCase(id=".::TestHelp", outcome="passed")}, {}, split)
    assert one.became == "changed"
