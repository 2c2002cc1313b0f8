from __future__ import annotations

import pytest

from milepost.verify.judging.describe import expectation, is_same

PYTHON = (
    "import app\n\n\ndef test_other():\n    assert app.f() == 1\n\n\ndef test_total():\n    assert app.total() == {}\n"
)
NODE = (
    "test('other', () => {{\n  assert.equal(1, 1);\n}});\ntest('adds', () => {{\n  assert.equal(add(1, 2), {});\n}});\n"
)
GO = 'package a\n\nfunc TestSum(t *testing.T) {{\n\tif Sum() != {} {{\n\t\tt.Fatal("x")\n\t}}\n}}\n'


@pytest.mark.parametrize(
    ("path", "text", "test", "line", "was", "now"),
    [
        (
            "tests/test_a.py",
            PYTHON,
            "tests/test_a.py::test_total",
            8,
            "assert app.total() == 3",
            "assert app.total() == 4",
        ),
        (
            "tests/test_a.py",
            PYTHON,
            "tests/test_a.py::test_total[x-1]",
            8,
            "assert app.total() == 3",
            "assert app.total() == 4",
        ),
        ("a.test.js", NODE, "a.test.js::adds", 4, "assert.equal(add(1, 2), 3);", "assert.equal(add(1, 2), 4);"),
        ("a_test.go", GO, "a::TestSum", 3, "if Sum() != 3 {", "if Sum() != 4 {"),
    ],
)
def test_the_old_and_the_new_expectation_stand_side_by_side(
    path: str, text: str, test: str, line: int, was: str, now: str
) -> None:
    assert expectation(path, text.format(3), text.format(4), test) == (line, was, now)


def test_a_test_that_is_gone_has_nothing_now() -> None:
    line, was, now = expectation("tests/test_a.py", PYTHON.format(3), "import app\n", "tests/test_a.py::test_total")

    assert line == 0
    assert "assert app.total() == 3" in was
    assert "app.total" not in now


def test_of_a_test_that_is_as_it_was_the_rest_of_its_file_is_shown() -> None:
    before, after = (f"X = {value}\n\ndef test_a():\n    assert f() == X\n" for value in (1, 2))

    assert expectation("test_a.py", before, after, "test_a.py::test_a") == (3, "X = 1", "X = 2")
    assert is_same("test_a.py", before, after, "test_a.py::test_a")
    assert not is_same("test_a.py", before, after.replace("==", "!="), "test_a.py::test_a")
