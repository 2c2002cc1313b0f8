"""How pytest is kept from looking above the checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from milepost.sandbox.read_plain import plain_text

SETTINGS = {
    "pytest.toml": "",
    ".pytest.toml": "",
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}


def place_options(folder: Path, words: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The options that keep pytest in `folder`.

    Without settings of its own pytest takes the nearest above the checkout: the user's working
    tree, which is another state of the project and out of the sandbox's reach.
    """
    if has_settings(folder, words):
        return (f"--rootdir={folder}",)
    return (f"--rootdir={folder}", "-c", "/dev/null", f"--confcutdir={folder}")


def has_settings(folder: Path, words: tuple[str, ...] = ()) -> bool:
    """Whether pytest, called in `folder` with `words`, would find settings without leaving it."""
    return any(_mentions(place / name, mark) for place in _places(folder, words) for name, mark in SETTINGS.items())


def _places(folder: Path, words: tuple[str, ...]) -> Iterator[Path]:
    yield folder
    for word in words:
        path = folder / word.partition("::")[0]
        if ".." not in path.parts and path.is_relative_to(folder) and path.exists():
            yield from (place for place in (path, *path.parents) if place != folder and place.is_relative_to(folder))


def _mentions(path: Path, mark: str) -> bool:
    try:
        return mark in plain_text(path)
    except OSError:
        return False
