"""A folder as one run of bytes, and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from milepost.core.folder_roadmap import bound, is_bound, unbound

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\x1c\x1d"))


@given(st.dictionaries(TEXTS.filter(bool), TEXTS.map(str.encode)))
def test_the_pages_of_a_folder_are_found_again_where_they_begin(pages: dict[str, bytes]) -> None:
    content = bound(pages)
    assert is_bound(content)
    found = unbound(content)
    assert {name: page.content for name, page in found.items()} == pages
    assert all(content[page.start : page.start + len(page.content)] == page.content for page in found.values())


def test_what_is_no_text_is_no_page() -> None:
    assert list(unbound(bound({"a.png": b"\0\1", "b.md": b"b", "c.bin": b"\x1c"}))) == ["b.md"]
