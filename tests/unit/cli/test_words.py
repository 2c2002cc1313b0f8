from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from milepost.cli.format_text import clipped, counted, duration, money, padded, safe


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "0.0 s"),
        (240, "0.2 s"),
        (9_949, "9.9 s"),
        (10_000, "10 s"),
        (41_400, "41 s"),
        (59_400, "59 s"),
        (64_000, "1 m 04 s"),
        (3_599_600, "1 h 00 m"),
        (7_500_000, "2 h 05 m"),
        (90_000_000, "25 h 00 m"),
        (9_960, "10 s"),
        (59_600, "1 m 00 s"),
    ],
)
def test_a_duration_is_told_as_people_say_it(ms: int, words: str) -> None:
    assert duration(ms) == words


def test_money_and_counts_read_well() -> None:
    assert (money(0), money(0.004), money(1.5)) == ("", "$0.00", "$1.50")
    assert (counted(0, "task"), counted(1, "task"), counted(2, "task")) == ("0 tasks", "1 task", "2 tasks")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\r\nb\x07", "ab"),
        ("\u202eright to left", "right to left"),
        ("zero\u200bwidth", "zerowidth"),
        ("tab\tstays", "tab\tstays"),
        ("lone \udcff surrogate", "lone  surrogate"),
        ("ünï ✓ 漢字", "ünï ✓ 漢字"),
    ],
)
def test_nothing_that_changes_what_the_terminal_shows_gets_through(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text(), st.integers(1, 40))
def test_clipped_text_fits_and_padded_text_fills(text: str, width: int) -> None:
    assert cell_len(clipped(text, width)) <= width
    assert cell_len(padded(text, width)) == width


def test_what_is_cut_says_so() -> None:
    assert clipped("abcdef", 6) == "abcdef"
    assert clipped("abcdef", 5) == "abcd…"
    assert clipped("漢字漢字", 5) == "漢字…"
