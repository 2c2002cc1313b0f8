"""A folder as one run of bytes, and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from milepost.roadmap.pages import bound, is_bound, unbound

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\x1c\x1d"), min_size=1)


@given(st.dictionaries(NAMES, st.text(st.characters(codec="utf-8", exclude_characters="\0\x1c\x1d")).map(str.encode)))
def test_the_pages_of_a_folder_are_found_again_where_they_begin(pages: dict[str, bytes]) -> None:
    content = bound(pages)
    assert is_bound(content)
    assert {name: page for name, (_, page) in unbound(content).items()} == pages
    assert all(content[start : start + len(page)] == page for start, page in unbound(content).values())


def test_what_is_no_text_is_no_page() -> None:
    assert list(unbound(bound({"a.png": b"\0\1", "b.md": b"b", "c.bin": b"\x1c"}))) == ["b.md"]
