"""Unified diffs: they say what differs, as difflib does, and are made of any two texts in no time."""

from __future__ import annotations

import difflib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.unified_diff import unified_diff

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=40)


def applied(before: list[str], diff: list[str]) -> list[str]:
    """What becomes of a text when a diff is applied to it, every line of which must fit."""
    after, at = [], 0
    for row in diff[2:]:
        if row.startswith("@@"):
            start, _, length = row.split()[1][1:].partition(",")
            begin = int(start) - (0 if length == "0" else 1)
            after += before[at:begin]
            at = begin
        elif row[0] == "+":
            after.append(row[1:])
        else:
            assert before[at] == row[1:]
            after += [row[1:]] if row[0] == " " else []
            at += 1
    return after + before[at:]


@given(LINES, LINES)
def test_a_diff_applied_to_one_text_makes_the_other(before: list[str], after: list[str]) -> None:
    diff = [*unified_diff(before, after, "a", "b")]
    assert applied(before, diff) == after and bool(diff) == (before != after)


@pytest.mark.parametrize("changed", [(0,), (5,), (5, 11), (5, 12), (5, 13), (0, 39), tuple(range(10, 20))])
def test_it_says_the_same_as_difflib(changed: tuple[int, ...]) -> None:
    before = [f"line {number}\n" for number in range(40)]
    after = ["new\n" if number in changed else line for number, line in enumerate(before)]
    for old, new in ((before, after), (after, before), (before, [*before, "more\n"]), ([], before), (before, [])):
        assert [*unified_diff(old, new, "a", "b")] == [*difflib.unified_diff(old, new, "a", "b")]


@pytest.mark.parametrize("kinds", [2, 3, 150, 10**9])
def test_no_two_texts_keep_it_busy(kinds: int) -> None:
    draw = random.Random(kinds)
    before, after = ([f"{draw.randrange(kinds)}\n" for _ in range(50_000)] for _ in range(2))
    assert applied(before, [*unified_diff(before, after, "a", "b")]) == after
