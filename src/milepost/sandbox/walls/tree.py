"""The processes that descend from one, and what of theirs the kernel tells others.

Numbers come from /proc and are used with the same /proc, so they fit each other in whatever pid namespace it shows.
A process lives as long as one thread of it does, and its first thread may be gone: what is asked of a process is asked
of a thread that lives.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator

_KERNEL_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110
_CHUNK = 1 << 16
_LONGEST = 1 << 22
# The two numbers of a device, the inode, and a file that has no name any more.
_NAMELESS_MAPPING = re.compile(rb"^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$", re.MULTILINE)


def own_number() -> int:
    """The number of this process as /proc shows it."""
    return int(os.readlink("/proc/self"))  # noqa: PTH115 - pathlib costs start-up time


def children(pid: int) -> list[int]:
    """The children of a process, those that have ended but were not waited for among them."""
    if not _KERNEL_LISTS_CHILDREN:
        return [child for child, parent in _parents() if parent == pid]
    texts = []
    with contextlib.suppress(OSError):
        for thread in threads_of(pid):
            texts.append(read(f"{thread}/children"))
    return [int(child) for text in texts for child in text.split()]


def descendants(pid: int) -> list[int]:
    """All processes that descend from one, without it."""
    if not _KERNEL_LISTS_CHILDREN:
        return _descendants_by_scan(pid)
    found = children(pid)
    for each in found:
        found.extend(children(each))
    return found


def threads_of(pid: int) -> list[str]:
    """The folders in /proc of a process's threads."""
    return [f"/proc/{pid}/task/{number}" for number in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208


class Files:
    """The files without a name that some processes still hold open, by device and inode, in bytes.

    `unreadable` says that a process did not let itself be looked into, `only_mapped` that one keeps a file of a disk
    alive by a mapping alone: there are more files than could be measured.
    """

    def __init__(self, memory_devices: frozenset[int]) -> None:
        self.bytes_of: dict[tuple[int, int], int] = {}
        self.unreadable = False
        self._memory_devices = memory_devices
        self._mapped: set[int] = set()

    @property
    def only_mapped(self) -> bool:
        return bool(self._mapped - {inode for _, inode in self.bytes_of})

    def count(self, threads: Iterable[str]) -> Iterator[None]:
        """Count what processes hold, and come up for air after each; `threads` are their folders in /proc."""
        for thread in threads:
            try:
                self._look_into(thread)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
            except OSError:
                self.unreadable = True
            yield

    def _look_into(self, thread: str) -> None:
        for held in _open_files(thread):
            if stat.S_ISREG(held.st_mode) and held.st_nlink == 0:
                self.bytes_of[held.st_dev, held.st_ino] = held.st_blocks * 512
        for major, minor, inode in _NAMELESS_MAPPING.findall(read(f"{thread}/maps")):
            if os.makedev(int(major, 16), int(minor, 16)) not in self._memory_devices:
                self._mapped.add(int(inode))

    def on(self, devices: Iterable[int]) -> list[int]:
        """The sizes of those on these devices."""
        wanted = frozenset(devices)
        return [size for (device, _), size in self.bytes_of.items() if device in wanted]


def read(path: str) -> bytes:
    """All of a file of /proc; OSError when it is longer than anything honest."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = piece = os.read(file, _CHUNK)
        while piece:
            if len(text) > _LONGEST:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
            piece = os.read(file, _CHUNK)
            text += piece
        return text
    finally:
        os.close(file)


def _open_files(thread: str) -> Iterator[os.stat_result]:
    for number in os.listdir(f"{thread}/fd"):  # noqa: PTH208
        with contextlib.suppress(FileNotFoundError):
            yield os.stat(f"{thread}/fd/{number}")  # noqa: PTH116


def _descendants_by_scan(pid: int) -> list[int]:
    born: dict[int, list[int]] = {}
    for child, parent in _parents():
        born.setdefault(parent, []).append(child)
    found = list(born.get(pid, ()))
    for each in found:
        found.extend(born.get(each, ()))
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if name.isdigit():
                yield int(name), int(read(f"/proc/{name}/stat").rpartition(b")")[2].split()[1])
