"""A roadmap changed on the user's disk: whole or not at all, and never over what somebody else wrote meanwhile."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from milepost.core.errors import RoadmapUnwritable
from milepost.core.folder_roadmap import is_page, unbound
from milepost.engine.project.project import read_bytes

_TRIES = 5


def rewrite(roadmap: Path, change: Callable[[bytes], bytes]) -> bool:
    """Change a roadmap; one that changed since it was read is read and changed again. Says whether it is other now."""
    with _in_turn(roadmap.parent):
        for _ in range(_TRIES):
            before = read_bytes(roadmap)
            after = change(before)
            if after == before:
                return False
            if read_bytes(roadmap) == before:
                _write(roadmap, before, after)
                return True
    raise RoadmapUnwritable(
        f"{roadmap.name} keeps changing while it is read", "close the program that writes it, then try again"
    )


@contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    """Let those of us who write in a folder come one after the other; whoever else writes there is noticed."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _write(roadmap: Path, before: bytes, after: bytes) -> None:
    if not roadmap.is_dir():
        put(roadmap, after)
        return
    pages = unbound(before)
    for name, page in unbound(after).items():
        if is_page(name) and name in pages and pages[name].content != page.content:
            put(roadmap / name, page.content)


def put(path: Path, content: bytes) -> None:
    """Put a file in the place of another at once, with the other's mode and owner; a link stays a link."""
    target = path.resolve()
    made: Path | None = None
    try:
        facts = target.stat()
        fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        made = Path(name)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(fd, facts.st_mode & 0o7777)
            with suppress(PermissionError):  # somebody else's file stays readable, and is ours from now on
                os.fchown(fd, facts.st_uid, facts.st_gid)
            os.fsync(fd)
        made.replace(target)
        _settle(target.parent)
    except OSError as error:
        if made is not None:
            made.unlink(missing_ok=True)
        raise RoadmapUnwritable(
            f"{str(path)!r} cannot be written: {error.strerror}", "make its folder writable or free some space"
        ) from error


def _settle(folder: Path) -> None:
    """Have the new name of a file on disk, too."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
