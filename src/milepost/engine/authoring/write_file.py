"""A roadmap changed on the user's disk: whole or not at all, and never over what somebody else wrote meanwhile."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from milepost.core.errors import FileInTheWay, Misuse, RoadmapUnwritable, StateUnwritable
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


def refuse_taken(path: Path, *, force: bool, source: Path | None = None) -> None:
    """Raise when a file may not be written; asked before anything is paid for, too."""
    if source is not None and path.resolve() == source.resolve():
        raise FileInTheWay(
            f"{str(path)!r} is the source document, and the tasks refer to its lines", "name another file after --write"
        )
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileInTheWay(f"{str(path)!r} is not a file that can be written", "name a file after --write")
    if path.exists() and not force:
        raise FileInTheWay(f"{str(path)!r} exists already", "name another file, or overwrite it with --force")
    if not path.parent.is_dir():
        raise Misuse(f"there is no folder {str(path.parent)!r}", "create it, or name another file after --write")


def place(text: str, path: Path, *, force: bool) -> None:
    """Write a file such that whoever reads it meanwhile sees the old one or the new one; a link is followed."""
    refuse_taken(path, force=force)
    path = path.resolve()
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_text(text, encoding="utf-8", newline="\n")
        if force:
            if path.exists():
                half.chmod(path.stat().st_mode)
            half.replace(path)
        else:
            _put_where_nothing_is(half, path)
    except OSError as error:
        raise StateUnwritable(
            f"{str(path)!r} cannot be written: {error.strerror or error}",
            "make the folder writable, or name another file",
        ) from error
    finally:
        half.unlink(missing_ok=True)


def _put_where_nothing_is(half: Path, path: Path) -> None:
    try:
        os.link(half, path)
    except FileExistsError as error:
        raise FileInTheWay(
            f"{str(path)!r} exists already", "name another file, or overwrite it with --force"
        ) from error
