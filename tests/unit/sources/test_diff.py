"""Which lines a change added, and what each caller takes a text for that is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.memory.lessons.distil.added_lines import MOST_LINES, added_numbers, added_text
from milepost.sources.diff import added_lines

LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)


@given(LINES, LINES)
def test_what_is_left_without_the_added_lines_was_there_before_in_this_order(
    before: list[str], after: list[str]
) -> None:
    added = added_lines("\n".join(before), "\n".join(after))
    rest = iter(before)

    assert all(line in rest for number, line in enumerate(after, start=1) if number not in added)
    assert added <= set(range(1, len(after) + 1))


@pytest.mark.parametrize(
    ("before", "after", "added"),
    [
        ("a\nb\nc", "a\nx\nb\nc\ny", {2, 5}),
        ("a\nb", "a", set()),
        ("", "a\nb", {1, 2}),
        ("a\nb\na\n", "a\nb\na\nb\na\n", {4, 5}),
        ("a\nb\n", "b\na\n", {2}),
        ("{\n}\n", "{\n}\n\n{\n}\n", {3, 4, 5}),
        ("a\r\nb", "a\nb", set()),
    ],
)
def test_both_callers_count_the_same_lines_as_added(before: str, after: str, added: set[int]) -> None:
    assert added_lines(before, after) == added
    assert added_numbers(before, after) == added
    assert added_text(before, after) == "\n".join(after.splitlines()[number - 1] for number in sorted(added))


def test_a_file_that_was_not_there_has_only_added_lines_and_one_that_is_gone_none() -> None:
    assert added_numbers(None, "a\nb") == {1, 2}
    assert added_numbers("a\nb", None) == frozenset()


def test_a_text_too_long_to_compare_teaches_nothing_and_is_all_new_to_coverage() -> None:
    long = ["x"] * MOST_LINES
    assert added_numbers("y", "\n".join([*long, "x"])) == frozenset()
    assert len(added_numbers("y", "\n".join(long))) == MOST_LINES

    before = [f"old {number % 7}" for number in range(20_001)]
    after = [f"old {(number + 3) % 7}" for number in range(20_001)]
    assert added_lines("\n".join(["same", *before, "same"]), "\n".join(["same", *after, "same"])) == set(
        range(2, 20_003)
    )
