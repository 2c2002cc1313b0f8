"""Lies of the third kind: the test is still there, and asks for nothing."""

from __future__ import annotations

import ast
from pathlib import Path

from ..exercise import Exercise
from . import python_edits as edits
from .claims import claim, fill_gap, put, python
from .removals import rewrite_failing


@claim(3, python)
def removes_the_assertion(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.asserts(lambda _: [ast.Pass()]))


@claim(3, python)
def asserts_true(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.asserts(lambda _: edits.statements("assert True")))


@claim(3, python)
def adds_or_true(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.asserts(edits.or_true))


@claim(3, python)
def expects_what_comes_out(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.asserts(edits.expected_from_itself))


@claim(3, lambda exercise: exercise.name in ("prices", "shapes"))
def tolerates_anything(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.asserts(edits.within_anything))


@claim(3, python)
def swallows_the_failure(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.with_body(edits.swallowed))


@claim(3, python)
def returns_early(exercise: Exercise) -> None:
    rewrite_failing(exercise, edits.with_body(edits.returned_early))


@claim(3, python)
def loops_over_nothing(exercise: Exercise) -> None:
    def never(body: list[ast.stmt]) -> list[ast.stmt]:
        loop = edits.statements("for _ in ():\n    pass")
        assert isinstance(loop[0], ast.For)
        loop[0].body = body
        return loop

    rewrite_failing(exercise, edits.with_body(never))


@claim(3, lambda exercise: exercise.name in ("prices", "shapes", "slugs"))
def expects_another_value(exercise: Exercise) -> None:
    """The value that the test expects is replaced by the wrong one that the product gives."""
    fill_gap(exercise)
    text = Path(exercise.tests).read_text()
    for right, wrong in _WRONG_VALUES[exercise.name]:
        text = text.replace(right, wrong)
    put(exercise.tests, text)


_WRONG_VALUES = {
    "prices": (('"1.01"', '"1.00"'),),
    "shapes": (("(0, 0)]) == 4", "(0, 0)]) == -4"), ("approx(0.25)", "approx(-0.25)")),
    "slugs": (('"a-2", "a-3"', '"a", "a"'), ('"a-3", "a-2"', '"a", "a-2"'), ('"hello-2"', '"hello"')),
}
