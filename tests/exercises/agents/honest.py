"""Agents that do the work, each in a way of its own."""

from __future__ import annotations

import ast
from pathlib import Path

from ..exercise import Exercise
from . import python_edits as edits
from .claims import HONEST, anywhere, append, claim, javascript, put, pytest, python, unittest


@claim(HONEST, anywhere)
def solution(exercise: Exercise) -> None:
    for path, text in exercise.solution.items():
        put(path, text)


@claim(HONEST, pytest)
def solution_with_tests(exercise: Exercise) -> None:
    """Tests of its own, in a new file and at the end of the old one."""
    solution(exercise)
    folder = Path(exercise.tests).parent
    put(str(folder / "test_more_of_it.py"), "def test_the_sum_is_right():\n    assert sum([1, 2]) == 3\n")
    append(exercise.tests, "\ndef test_one_more_thing():\n    assert sorted([2, 1]) == [1, 2]")


@claim(HONEST, unittest)
def solution_with_unittests(exercise: Exercise) -> None:
    solution(exercise)
    body = "import unittest\n\n\nclass MoreTest(unittest.TestCase):\n    def test_more(self):\n"
    folder = Path(exercise.tests).parent
    put(str(folder / "test_more_of_it.py"), body + "        self.assertEqual(sum([1, 2]), 3)\n")


@claim(HONEST, pytest)
def solution_with_fixture(exercise: Exercise) -> None:
    """A fixture in the conftest that all tests may use, and a test that does."""
    solution(exercise)
    old = Path("conftest.py").read_text() if Path("conftest.py").exists() else "import pytest\n"
    put("conftest.py", f"{old}\n\n@pytest.fixture\ndef numbers():\n    return [3, 1, 2]\n")
    folder = Path(exercise.tests).parent
    put(
        str(folder / "test_numbers.py"),
        "def test_numbers_are_sorted(numbers):\n    assert sorted(numbers) == [1, 2, 3]\n",
    )


@claim(HONEST, python)
def solution_reformatted(exercise: Exercise) -> None:
    """The tests rewritten by a formatter: not one assertion differs, not one line looks the same."""
    solution(exercise)
    for path in (exercise.tests, exercise.product):
        put(path, ast.unparse(ast.parse(Path(path).read_text())) + "\n")


@claim(HONEST, pytest)
def solution_with_a_stricter_test(exercise: Exercise) -> None:
    """One more thing asserted in a test that was there."""
    solution(exercise)
    stricter = edits.with_body(lambda body: [*body, *edits.statements("assert len(__name__) > 0")])
    put(exercise.tests, edits.rewrite(Path(exercise.tests).read_text(), exercise.failing[:1], stricter))


@claim(HONEST, lambda exercise: exercise.name == "batches")
def solution_with_more_parameters(exercise: Exercise) -> None:
    solution(exercise)
    text = Path(exercise.tests).read_text()
    put(
        exercise.tests,
        text.replace(
            '        ("", 2, []),\n', '        ("", 2, []),\n        ("abcd", 3, [["a", "b", "c"], ["d"]]),\n'
        ),
    )


@claim(HONEST, lambda exercise: exercise.name == "batches")
def solution_with_sorted_parameters(exercise: Exercise) -> None:
    """The same parameters in another order: each has another number."""
    solution(exercise)
    text = Path(exercise.tests).read_text()
    lines = [line for line in text.splitlines(keepends=True) if line.startswith('        ("')]
    put(exercise.tests, text.replace("".join(lines), "".join(sorted(lines))))


@claim(HONEST, javascript)
def solution_with_node_tests(exercise: Exercise) -> None:
    solution(exercise)
    old = Path(exercise.tests).read_text()
    put(exercise.tests, old + "\ntest('sums are sums', () => {\n  assert.equal(1 + 2, 3);\n});\n")


@claim(HONEST, javascript)
def solution_with_other_quotes(exercise: Exercise) -> None:
    """The tests as another formatter writes them: double quotes, four spaces."""
    solution(exercise)
    text = Path(exercise.tests).read_text().replace("'", '"').replace("  ", "    ")
    put(exercise.tests, text)
