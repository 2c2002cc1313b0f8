"""The test files of a checkout, out of sight for the time of a run."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from milepost.core.folders import NOT_SOURCE
from milepost.sandbox.remove_folder import remove
from milepost.verify.judging.paths import CODE, is_test_folder, suffix
from milepost.verify.witness.swap import swapped

MOST_FILES = 10_000
MOST_BYTES = 200_000_000
TOO_MANY = "there are too many test files to put them out of sight"

_TEST_NAME = re.compile(r"test_.*\.py|conftest\.py|.*\.(test|spec)\.[cm]?[jt]sx?")
_LITERAL = re.compile(r"[\"'`]([^\"'`\n]+)[\"'`]")
_OWN_PLACE = re.compile(r"\b(?:__file__|__dirname|__filename|import\.meta)\b")
_LEFT_ALONE = NOT_SOURCE - {"__pycache__"}
# What runs of tests and linters leave: it names the tests, and is made again when it is missed.
_CACHES = frozenset(
    {".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".nyc_output", ".jest", ".vitest", ".tox", ".nox"}
)


@contextmanager
def out_of_sight(checkout: Path, paths: tuple[str, ...]) -> Iterator[None]:
    """Have none of the files in the checkout, nor the folders that are empty without them."""
    with without_history(checkout), swapped(checkout, dict.fromkeys(paths)):
        folders = {above for path in paths for above in PurePosixPath(path).parents if above.name}
        for folder in sorted(folders, key=lambda one: -len(one.parts)):
            with suppress(OSError):
                (checkout / folder).rmdir()
        yield


@contextmanager
def without_history(checkout: Path) -> Iterator[None]:
    """Have no git folder either: it has the tests, too."""
    history, away = checkout / ".git", checkout.with_name(f"{checkout.name}-{secrets.token_hex(4)}")
    try:
        history.rename(away)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        if history.exists() or history.is_symlink():
            remove(history)
        away.rename(history)


def files_to_hide(checkout: Path, tests: frozenset[str]) -> tuple[str, ...] | None:
    """The files with `tests`, what shares a test folder with one, and what is named as only tests are; None where that
    is too much. A module of the product may well be in a folder `test`, or be called `changed_tests.py`.

    What earlier runs left of themselves is removed.
    """
    around = {folder for path in tests if (folder := _test_folder(path))}
    found: list[str] = []
    size = 0
    for place, folders, files in os.walk(checkout):
        for name in _CACHES.intersection(folders):
            remove(Path(place) / name)
        folders[:] = [name for name in folders if name not in _LEFT_ALONE | _CACHES]
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            path = (Path(place) / name).relative_to(checkout).as_posix()
            if path in tests or _test_folder(path) in around or _TEST_NAME.fullmatch(name):
                found.append(path)
                size += (Path(place) / name).lstat().st_size
    return tuple(found) if len(found) <= MOST_FILES and size <= MOST_BYTES else None


def given_by(source: str, hidden: tuple[str, ...]) -> frozenset[str]:
    """The hidden files that a file of tests may hand to the product: it names them, or their folder, or looks for files
    from where it stands itself. Code only where it is named, and none that is called as tests are."""
    words = {word for text in _LITERAL.findall(source) for word in re.split(r"[/\\\s{}]+", text)}
    looks_around = bool(_OWN_PLACE.search(source))

    def is_given(path: str) -> bool:
        place = PurePosixPath(path)
        if suffix(path) in CODE:
            return place.name in words and not _TEST_NAME.fullmatch(place.name)
        return looks_around or bool({place.stem, *place.parts} & words)

    return frozenset(filter(is_given, hidden))


def _test_folder(path: str) -> str | None:
    """The topmost folder of a path that is called as those of tests are."""
    folders = path.split("/")[:-1]
    at = next((count for count, name in enumerate(folders, 1) if is_test_folder(name)), 0)
    return "/".join(folders[:at]) or None
