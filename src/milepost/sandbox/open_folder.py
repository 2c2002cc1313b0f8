"""Folders opened one name at a time, so that no link on the way is followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder as an open descriptor."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def folder_of(path: PurePosixPath, top: int) -> Iterator[int]:
    """The folder that `path` lies in, reached without following a link."""
    here = os.dup(top)
    try:
        for name in path.parts[:-1]:
            above, here = here, os.open(name, _FOLDER, dir_fd=here)
            os.close(above)
        yield here
    finally:
        os.close(here)
