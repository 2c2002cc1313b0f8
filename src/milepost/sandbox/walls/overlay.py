"""A layer over a folder that takes all changes made to it, bounded in size, and tells them when asked.

Device nodes and setuid bits are never told, and a name is never more than a name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import mounts
from .change_stream import Telling
from .differences import OPEN_FILE, OPEN_FOLDER, ChangedPath, Pair, differences

_MEBIBYTE = 1 << 20
_MOST_BYTES_OF_NAMES = 64 * _MEBIBYTE  # names, and where the pieces of files lie


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layers:
    """The folders of an overlay, and how many bytes the upper one takes."""

    upper: int
    lower: int
    size: int


_layers: _Layers | None = None  # a process has one overlay at most


def lay_over(folder: int, *, size_mb: int, inodes: int) -> int:
    """A tree that shows `folder` and keeps every change to itself, in memory.

    That memory is on the stage: no path leads to it once another root was entered.
    """
    global _layers  # noqa: PLW0603 - of a process that is for one guest
    bounds = {"size": f"{size_mb}m", "nr_inodes": str(inodes), "mode": "755"}
    lower = os.open(f"/proc/self/fd/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    memory = mounts.fresh("tmpfs", bounds, mounts.NO_SETUID | mounts.NO_DEVICES)
    top = mounts.stage(memory)
    try:
        for name in ("upper", "work"):
            os.mkdir(name, dir_fd=top)
        upper = os.open("upper", OPEN_FOLDER, dir_fd=top)
        os.fchmod(upper, stat.S_IMODE(os.fstat(lower).st_mode) & 0o777)
        layers = {
            "lowerdir": f"/proc/self/fd/{folder}",
            "upperdir": f"/proc/self/fd/{upper}",
            "workdir": f"/proc/self/fd/{top}/work",
            "userxattr": None,
        }
        tree = mounts.fresh("overlay", layers, mounts.NO_SETUID | mounts.NO_DEVICES)
    finally:
        os.close(top)
    _layers = _Layers(upper=upper, lower=lower, size=size_mb * _MEBIBYTE)
    return tree


def collect(file: int, *, within_s: float) -> None:
    """Write to `file` what differs from the folder below, anew.

    The last entry says that all was told. Where there is more than the layer holds, or it takes longer than
    `within_s`, which the guest's doing can bring about, the only entry says so.
    """
    assert _layers is not None, "only what has an overlay is asked for its changes"
    telling = Telling(file, most_bytes=_layers.size + _MOST_BYTES_OF_NAMES, within_s=within_s)
    paths: dict[int, str] = {}
    try:
        for found in differences(Pair(upper=_layers.upper, lower=_layers.lower)):
            telling.check()
            if found is not None:
                with contextlib.suppress(FileNotFoundError):
                    _tell_change(telling, found, paths)
    except OSError as problem:
        telling.fail(str(problem.strerror))
    else:
        telling.end()


def _tell_change(telling: Telling, found: ChangedPath, paths: dict[int, str]) -> None:
    """Tell of one name; `paths` are those under which files were told already, by number."""
    entry: dict[str, Any] = {"path": found.path, "now": found.now, "was": found.was}
    if found.now == "link":
        entry["to"] = os.readlink(found.name, dir_fd=found.upper)
    if found.now != "file":
        telling.tell(entry)
        return
    file = os.open(found.name, OPEN_FILE, dir_fd=found.upper)
    try:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode):
            raise FileNotFoundError(errno.ENOENT, "it is no file any more")
        entry["mode"] = facts.st_mode & 0o777
        if facts.st_ino in paths:
            telling.tell({**entry, "same_as": paths[facts.st_ino]})
            return
        paths[facts.st_ino] = found.path
        pieces = list(_pieces(file, facts.st_size))
        telling.tell({**entry, "size": facts.st_size, "pieces": pieces})
        for start, length in pieces:
            telling.copy(file, start, length)
    finally:
        os.close(file)


def _pieces(file: int, size: int) -> Iterator[tuple[int, int]]:
    """Where a file has bytes of its own: one with holes is no longer to tell than what it takes up."""
    end = 0
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as problem:
            if problem.errno != errno.ENXIO:
                raise
            return  # nothing but a hole up to the end
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end - start
