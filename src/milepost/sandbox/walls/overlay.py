"""A layer over a folder that takes all changes made to it, bounded in size, and tells them when asked.

The changes are told as a stream of entries: four bytes of length, a JSON object, and for a file the bytes it says.
Device nodes and setuid bits are never told, and a name is never more than a name.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from typing import Any

from . import mounts
from .differences import OPEN_FILE, OPEN_FOLDER, Found, Pair, differences

_CHUNK = 1 << 20

_layers: list[int] = []  # the upper and the lower folder; a process has one overlay at most


def lay_over(folder: int, *, size_mb: int, inodes: int) -> int:
    """A tree that shows `folder` and keeps every change to itself, in memory.

    That memory is on the stage: no path leads to it once another root was entered.
    """
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
    _layers[:] = (upper, lower)
    return tree


def collect(descriptor: int) -> None:
    """Write to `descriptor` what differs from the folder below; a file is written anew.

    The last entry says that all was told, or why it could not be.
    """
    upper, lower = _layers
    told: dict[int, str] = {}
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.ftruncate(descriptor, 0)
    try:
        for found in differences(Pair(upper=upper, lower=lower)):
            with contextlib.suppress(FileNotFoundError):
                _tell_change(descriptor, found, told)
    except BrokenPipeError:
        raise
    except OSError as problem:
        _tell(descriptor, {"now": "end", "failure": str(problem.strerror)})
    else:
        _tell(descriptor, {"now": "end"})


def _tell_change(descriptor: int, found: Found, told: dict[int, str]) -> None:
    entry: dict[str, Any] = {"path": found.path, "now": found.now, "was": found.was}
    if found.now == "link":
        entry["to"] = os.readlink(found.name, dir_fd=found.upper)
    if found.now != "file":
        _tell(descriptor, entry)
        return
    file = os.open(found.name, OPEN_FILE, dir_fd=found.upper)
    try:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode):
            raise FileNotFoundError(errno.ENOENT, "it is no file any more")
        entry["mode"] = facts.st_mode & 0o777
        if facts.st_ino in told:
            _tell(descriptor, {**entry, "same_as": told[facts.st_ino]})
            return
        told[facts.st_ino] = found.path
        pieces = list(_pieces(file, facts.st_size))
        _tell(descriptor, {**entry, "size": facts.st_size, "pieces": pieces})
        for start, length in pieces:
            _copy(file, descriptor, start, length)
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


def _copy(file: int, descriptor: int, start: int, length: int) -> None:
    end = start + length
    while start < end:
        sent = os.sendfile(descriptor, file, start, min(end - start, _CHUNK))
        if not sent:
            sent = os.write(descriptor, bytes(min(end - start, _CHUNK)))  # it became shorter
        start += sent


def _tell(descriptor: int, entry: dict[str, Any]) -> None:
    text = json.dumps(entry).encode()
    rest = memoryview(len(text).to_bytes(4, "big") + text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
