"""A walk over the folders of a checkout, past what tools put there: bounded, and following no link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from milepost.core.folders import BUILT, NOT_SOURCE
from milepost.verify.suites import report_file

SKIPPED = NOT_SOURCE | BUILT | {"bower_components", "coverage", "env", "fixtures", "out", "testdata", "vendor"}
DEEPEST = 12
MOST_ENTRIES = 200_000


def folders_below(top: Path) -> Iterator[Path]:
    """`top` and the folders below it that are a project's own, those above first."""
    for folder, _ in _walk(top):
        yield folder


def files_below(top: Path) -> Iterator[Path]:
    """The files in them, folder by folder, sorted."""
    for _, files in _walk(top):
        yield from files


def text_of(path: Path) -> str:
    """The text of a plain file, empty where there is none: a pipe that a test put there is not waited for."""
    return report_file.read(path) or ""


def is_inside(path: Path, checkout: Path) -> bool:
    """Whether a file of this path would lie in the checkout, whatever links there are on the way."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(checkout))


def _walk(top: Path) -> Iterator[tuple[Path, list[Path]]]:
    seen = 0
    todo = [(top, 0)]
    while todo and seen < MOST_ENTRIES:
        folder, depth = todo.pop(0)
        folders: list[Path] = []
        files: list[Path] = []
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in SKIPPED:
                        folders.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    files.append(Path(entry.path))
        yield folder, sorted(files)
        if depth < DEEPEST:
            todo.extend((each, depth + 1) for each in sorted(folders))
