"""Texts as rows of classes and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.web.highlight.colours import LONGEST_LINE, MOST_SIGNS, coloured, lines_of

NAMES = ["a.py", "a.ts", "a.md", "a.html", "Makefile", "a.yaml", "a.rs", "a.sh", "a.toml", "a.unknown", "\n.py", ""]


@given(name=st.sampled_from(NAMES), content=st.binary(max_size=300))
def test_the_pieces_of_each_row_joined_are_its_line_whatever_the_bytes(name: str, content: bytes) -> None:
    for text in (content.decode("utf-8", "replace"), content.decode("utf-8", "surrogateescape")):
        rows = coloured(name, text)
        assert ["".join(piece for _, piece in row) for row in rows] == lines_of(text)
        assert all(piece and "\n" not in piece for row in rows for _, piece in row)


def test_classes_are_the_short_ones_of_pygments() -> None:
    assert coloured("a.py", "def f():\n    return 1\n") == (
        (("k", "def"), ("", " "), ("nf", "f"), ("p", "():")),
        (("", "    "), ("k", "return"), ("", " "), ("mi", "1")),
    )


@pytest.mark.parametrize(
    "text", ["x = 1\n" * (MOST_SIGNS // 6 + 1), f"x = {'1' * LONGEST_LINE}\n"], ids=["too long", "too long a line"]
)
def test_a_text_that_is_too_long_has_no_classes_and_all_its_lines(text: str) -> None:
    rows = coloured("a.py", text)
    assert {kind for row in rows for kind, _ in row} == {""}
    assert len(rows) == text.count("\n")


def test_html_is_text_like_any_other() -> None:
    assert "".join(text for _, text in coloured("a.html", "<script>alert(1)</script>")[0]) == (
        "<script>alert(1)</script>"
    )
