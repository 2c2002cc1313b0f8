import pytest
from textkit import squeeze, truncate


@pytest.mark.parametrize(
    ("text", "width", "ending", "expected"),
    [
        ("hello", 5, "…", "hello"),
        ("hello", 4, "…", "hel…"),
        ("hello", 4, "...", "h..."),
        ("", 1, "…", ""),
        ("hello", 3, "", "hel"),
        ("ab", 1, "…", "…"),
    ],
)
def test_text_is_cut(text, width, ending, expected):
    assert truncate(text, width, ending) == expected


def test_too_narrow_is_refused():
    with pytest.raises(ValueError):
        truncate("hello", 2, "...")


def test_the_rest_still_works():
    assert squeeze("a  b") == "a b"
