import re
from pathlib import Path


def sections(result):
    text = (Path(result) / "CONTRIBUTING.md").read_text()
    parts = re.split(r"^## (.+?)\s*$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_sections_come_in_order(result):
    assert [name for name in sections(result) if name in ("Setup", "Tests", "Style")] == ["Setup", "Tests", "Style"]


def test_each_says_something(result):
    assert all(len(text.split()) >= 3 for text in sections(result).values())


def test_the_command_is_named(result):
    assert "python -m unittest" in sections(result)["Tests"]


def test_the_rest_is_as_it_was(result):
    assert (Path(result) / "README.md").read_text().startswith("# Pocket")
