"""The folder `.milepost/` beside a roadmap: what people look at. A commit can fill it, so no link in it is followed."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from milepost.core.errors import FileInTheWay, NoRepository
from milepost.engine.project.state_place import OPEN_FOLDER
from milepost.workspace.repository import Repository

IGNORE_ALL = b"*\n"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def is_open_file(path: Path) -> bool:
    """Whether a path is that of a file in a folder of `.milepost/`."""
    return path.parent.parent.name == OPEN_FOLDER


def put(path: Path, text: str) -> None:
    """Write a file `.milepost/FOLDER/NAME`, whole or not at all; refuses where a link or a file of git's is in the way.

    Raises OSError where it cannot be written.
    """
    home = path.parents[2]
    _refuse_tracked(home, path)
    with _opened(home.resolve()) as top, _below(top, OPEN_FOLDER, path) as ours:
        _ignore(ours)
        with _below(ours, path.parent.name, path) as folder:
            half = f".{path.name}.{secrets.token_hex(4)}"
            try:
                with os.fdopen(os.open(half, _NEW, 0o644, dir_fd=folder), "w", encoding="utf-8") as file:
                    file.write(text)
                os.rename(half, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with suppress(OSError):
                    os.unlink(half, dir_fd=folder)
                raise


def ignore(home: Path) -> None:
    """Have git ignore `.milepost/` where somebody made it, through a file of its own; where that cannot be, nothing."""
    with suppress(OSError), _opened(home) as top:
        fd = os.open(OPEN_FOLDER, _FOLDER, dir_fd=top)
        try:
            _ignore(fd)
        finally:
            os.close(fd)


def _ignore(folder: int) -> None:
    with suppress(FileExistsError), os.fdopen(os.open(".gitignore", _NEW, 0o644, dir_fd=folder), "wb") as file:
        file.write(IGNORE_ALL)


def _refuse_tracked(home: Path, path: Path) -> None:
    try:
        repository = Repository.find(home)
    except NoRepository:
        return
    inside = home.resolve().relative_to(repository.top.resolve())
    if found := repository.tracked((inside / path.relative_to(home)).as_posix()):
        raise FileInTheWay(f"git tracks {found[0]!r}, which would be overwritten", "name another file")


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _below(folder: int, name: str, path: Path) -> Iterator[int]:
    """A folder in another, made if need be, and never a link."""
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)
    try:
        fd = os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        raise FileInTheWay(f"{name!r} on the way to {str(path)!r} is no plain folder", "name another file") from error
    try:
        yield fd
    finally:
        os.close(fd)
