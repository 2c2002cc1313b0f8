from __future__ import annotations

import pytest

from milepost.verify.suites.failure_kinds import exception_named, kind_of


@pytest.mark.parametrize(
    ("exception", "message", "kind"),
    [
        ("AssertionError", "", "assertion"),
        ("", "assert 90 == 5400", "assertion"),
        ("", "AssertionError: expected 5400, got 90", "assertion"),
        ("Failed", "DID NOT RAISE <class 'ValueError'>", "assertion"),
        ("org.opentest4j.AssertionFailedError", "expected: <1> but was: <2>", "assertion"),
        ("", "assertion `left == right` failed: hours are wrong", "assertion"),
        ("Error", "expect(received).toBe(expected) // Object.is equality", "assertion"),
        ("ERR_ASSERTION", "Expected values to be strictly equal: 2 !== 3", "assertion"),
        ("ModuleNotFoundError", "No module named 'nope'", "import"),
        ("", "ImportError: cannot import name 'x' from 'y'", "import"),
        ("Error", "Cannot find module '../src/nope'", "import"),
        ("ERR_MODULE_NOT_FOUND", "", "import"),
        ("java.lang.NoClassDefFoundError", "com/example/Hours", "import"),
        ("TypeError", "unsupported operand", "type"),
        ("ValueError", "invalid literal", "value"),
        ("json.decoder.JSONDecodeError", "Expecting value", "value"),
        ("java.lang.IllegalArgumentException", "negative", "value"),
        ("AttributeError", "'int' object has no attribute 'x'", "attribute"),
        ("TimeoutError", "", "timeout"),
        ("", "Failed: Timeout (>1.0s) from pytest-timeout.", "timeout"),
        ("Error", 'thrown: "Exceeded timeout of 100 ms for a test.', "timeout"),
        ("Error", "Test timed out in 5000ms.", "timeout"),
        ("KeyError", "'a'", "runtime"),
        ("ReferenceError", "x is not defined", "runtime"),
        ("java.lang.NullPointerException", "", "runtime"),
        ("", "panic: runtime error: index out of range", "runtime"),
        ("", "told nothing of use", "unknown"),
        ("", "", "unknown"),
    ],
)
def test_a_failure_is_of_the_kind_its_exception_says(exception: str, message: str, kind: str) -> None:
    assert kind_of(exception, message, "", False) == kind


def test_before_any_test_could_run_it_is_a_collection_failure_or_a_lost_import() -> None:
    assert kind_of("SyntaxError", "invalid syntax", "", True) == "collection"
    assert kind_of("", "", "E   NameError: name 'x' is not defined", True) == "collection"
    assert kind_of("", "", "E   ModuleNotFoundError: No module named 'nope'", True) == "import"


def test_the_last_exception_of_a_traceback_is_the_one_that_was_raised() -> None:
    chained = "KeyError: 'a'\n\nDuring handling of the above exception:\n\napp.errors.TooLateError: gone\n"

    assert exception_named(chained) == "app.errors.TooLateError"
    assert exception_named("TypeError [ERR_INVALID_ARG_TYPE]: no") == "ERR_INVALID_ARG_TYPE"
    assert exception_named("all is well: no") == ""
