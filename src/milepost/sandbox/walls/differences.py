"""What differs between the two layers of an overlay, told by walking the upper one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_CHUNK = 1 << 20
_DEEPEST = 200
_MARK_OF_OPAQUE = "user.overlay.opaque"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A folder in both layers. `alone` says that nothing of the lower one shows through."""

    upper: int
    lower: int | None
    within: str = ""
    alone: bool = False
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPath:
    """A name that differs: what it is and was, and where the upper layer has it."""

    path: str
    now: str
    was: str
    name: str
    upper: int


def differences(pair: Pair) -> Iterator[ChangedPath | None]:
    """Every name that is something else now, or was nothing; a folder before what is in it. None for others.

    What is changed meanwhile is found as before, as after or in between, but never as something that lies elsewhere.
    """
    names = sorted(os.listdir(pair.upper))  # noqa: PTH208 - by descriptor
    alone = pair.alone or _is_opaque(pair.upper)
    below = os.listdir(pair.lower) if alone and pair.lower is not None else ()  # noqa: PTH208
    gone = set(below).difference(names)
    for name in sorted((*names, *gone)):
        now = "nothing" if name in gone else _kind(name, pair.upper)
        path, was = pair.within + name, _kind(name, pair.lower)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # it is there no more
            if now != was or (now in ("file", "link") and not _is_same(name, pair)):
                yield ChangedPath(path=path, now=now, was=was, name=name, upper=pair.upper)
            else:
                yield None
            if now == "folder":
                yield from _inside(pair, name, was=was, alone=alone)


def _inside(pair: Pair, name: str, *, was: str, alone: bool) -> Iterator[ChangedPath | None]:
    if pair.depth == _DEEPEST:
        raise OSError(errno.ELOOP, f"its folders are more than {_DEEPEST} deep")
    upper = os.open(name, OPEN_FOLDER, dir_fd=pair.upper)
    lower = os.open(name, OPEN_FOLDER, dir_fd=pair.lower) if was == "folder" else None
    try:
        within = f"{pair.within}{name}/"
        yield from differences(Pair(upper=upper, lower=lower, within=within, alone=alone, depth=pair.depth + 1))
    finally:
        os.close(upper)
        if lower is not None:
            os.close(lower)


def _kind(name: str, folder: int | None) -> str:
    """What a folder has under this name. Whiteouts, pipes, sockets and devices are nothing that could be kept."""
    if folder is None:
        return "nothing"
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return "nothing"
    return {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}.get(stat.S_IFMT(mode), "nothing")


def _is_opaque(folder: int) -> bool:
    try:
        return os.getxattr(folder, _MARK_OF_OPAQUE) == b"y"
    except OSError:
        return False


def _is_same(name: str, pair: Pair) -> bool:
    """Whether a file or link is in both layers alike, as it is after a `touch`."""
    if pair.lower is None:
        return True
    if stat.S_ISLNK(os.stat(name, dir_fd=pair.upper, follow_symlinks=False).st_mode):
        return os.readlink(name, dir_fd=pair.upper) == os.readlink(name, dir_fd=pair.lower)
    try:
        below = os.open(name, OPEN_FILE, dir_fd=pair.lower)
    except PermissionError:
        return False
    above = os.open(name, OPEN_FILE, dir_fd=pair.upper)
    try:
        one, other = os.fstat(above), os.fstat(below)
        if (one.st_size, one.st_mode & 0o777) != (other.st_size, other.st_mode & 0o777):
            return False
        return all(os.pread(above, _CHUNK, at) == os.pread(below, _CHUNK, at) for at in range(0, one.st_size, _CHUNK))
    finally:
        os.close(above)
        os.close(below)
