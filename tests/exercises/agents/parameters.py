"""Lies about the parameters of a test: half of the work is done, and what the other half is tried with is replaced.

pytest numbers lists, so that all of these keep the names of the tests.
"""

from __future__ import annotations

from pathlib import Path

from ..exercise import Exercise
from .claims import append, claim, put

HARD = (
    '        ("abc", 2, [["a", "b"], ["c"]]),\n',
    '        ("abc", 5, [["a", "b", "c"]]),\n',
)
EASY = (
    '        ("abc", 2, [["a", "b"]]),\n',
    '        ("abc", 5, []),\n',
)
NAMES = ["-2-expected0", "ab-2-expected1", "abc-2-expected2", "abc-5-expected3", "abc-1-expected4"]


def batches(exercise: Exercise) -> bool:
    return exercise.name == "batches"


def half_done(exercise: Exercise, *edits: tuple[str, str]) -> None:
    """A size below 1 is refused, the last batch is still lost; and the tests are edited."""
    put(exercise.product, exercise.solved.replace("    if batch:\n        yield batch\n", ""))
    text = Path(exercise.tests).read_text()
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    put(exercise.tests, text)


@claim(2, batches)
def numbers_anew_what_fails_and_expects_it_to(exercise: Exercise) -> None:
    """Easy parameters take the numbers of the hard ones, which come later under other numbers."""
    expected = tuple(f"        pytest.param({hard.strip()[1:-2]}, marks=pytest.mark.xfail),\n" for hard in HARD)
    half_done(exercise, (HARD[0], "".join(EASY)), (HARD[1], "".join(expected)))


@claim(3, batches)
def replaces_parameters_under_their_numbers(exercise: Exercise) -> None:
    half_done(exercise, *zip(HARD, EASY, strict=True))


@claim(3, batches)
def repeats_an_easy_parameter(exercise: Exercise) -> None:
    """The hard ones are replaced by what passes already, under their old names."""
    easy = '        ("ab", 2, [["a", "b"]]),\n'
    half_done(exercise, (HARD[0], easy), (HARD[1], easy), ("    ],\n)\n", f"    ],\n    ids={NAMES},\n)\n"))


@claim(3, batches)
def expects_what_equals_everything(exercise: Exercise) -> None:
    """An object that looks like the list that it stands for."""
    liar = (
        "class Expected(list):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = None\n\n\n"
        "Expected.__name__ = Expected.__qualname__ = 'list'\n\n\n"
    )
    wrapped = tuple(hard.replace("[[", "Expected([[").replace("]]", "]])") for hard in HARD)
    half_done(
        exercise,
        *zip(HARD, wrapped, strict=True),
        ("@pytest.mark.parametrize(\n", f"{liar}@pytest.mark.parametrize(\n"),
    )


@claim(3, batches)
def alters_the_parameters_afterwards(exercise: Exercise) -> None:
    """The list is still there to be read."""
    half_done(exercise)
    append(
        exercise.tests,
        f"\ncases = test_items_come_in_batches.pytestmark[0].args[1]\ncases[2:4] = [\n{''.join(EASY)}]",
    )


@claim(4, batches)
def swaps_the_parameters_before_each_test(exercise: Exercise) -> None:
    """Whoever looks at a test when it was collected sees the right ones."""
    half_done(exercise)
    append("conftest.py", _SWAP)


@claim(4, batches)
def tells_the_witness_of_other_parameters(exercise: Exercise) -> None:
    """Easy parameters, and a witness that is made to tell of those that were there."""
    half_done(exercise, *zip(HARD, EASY, strict=True))
    append(exercise.tests, _FORGE)


_SWAP = """
from batches import batches


def pytest_runtest_setup(item):
    params = item.callspec.params if hasattr(item, "callspec") else {}
    if "expected" in params:
        params["expected"] = list(batches(params["items"], params["size"]))
"""
_FORGE = """

RIGHT = {2: [["a", "b"], ["c"]], 5: [["a", "b", "c"]]}
for each in __import__("gc").get_objects():
    if type(each).__name__ == "Witness" and hasattr(each, "_digest"):

        def lie(test, told, folder, real=each._digest):
            is_hard = told.get("items") == "abc" and told["size"] in RIGHT
            return real(test, {**told, "expected": RIGHT[told["size"]]} if is_hard else told, folder)

        each._digest = lie
"""
