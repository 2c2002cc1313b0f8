"""What a tree of processes added to its folders: a sign that is cheap, and a count that takes its time.

The sign is how much the file systems have filled up, by whomever. The count walks the folders, a little at a time, and
adds up what was changed since the start, and what was made: nobody can set these times back. What only open files or
mappings keep alive counts as well, and what cannot be looked into counts with all that is missing on the disk.
"""

from __future__ import annotations

import ctypes
import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from . import memory, tree

_CLOCK_TICK_NS = 10_000_000  # the kernel dates files by a clock that lags this much at most
_ENTRIES_BETWEEN_BREATHS = 64
_MOST_STEPS_IN_MEMORY = 100

_AT_FDCWD, _AT_SYMLINK_NOFOLLOW, _STATX_BTIME = -100, 0x100, 0x800
_STATX_BYTES, _OFFSET_OF_BTIME = 256, 80

_libc = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Added:
    """Bytes and inodes."""

    bytes: float = 0
    inodes: float = 0

    def __add__(self, other: Added) -> Added:
        return Added(self.bytes + other.bytes, self.inodes + other.inodes)

    def __sub__(self, other: Added) -> Added:
        return Added(self.bytes - other.bytes, self.inodes - other.inodes)

    def at_most(self, other: Added) -> Added:
        return Added(min(self.bytes, other.bytes), min(self.inodes, other.inodes))

    def at_least(self, other: Added) -> Added:
        return Added(max(self.bytes, other.bytes), max(self.inodes, other.inodes))

    def where_finite(self) -> Added:
        """The same with nothing in the place of infinitely much."""
        return Added(*(each if math.isfinite(each) else 0 for each in (self.bytes, self.inodes)))

    def exceeds(self, other: Added) -> bool:
        return self.bytes > other.bytes or self.inodes > other.inodes


class FileSystems:
    """The file systems of some folders, and how much they have filled up since they were emptiest."""

    def __init__(self, folders: list[str]) -> None:
        self._folder_of: dict[int, str] = {}
        for folder in folders:
            try:
                self._folder_of.setdefault(os.stat(folder).st_dev, folder)  # noqa: PTH116
            except OSError:
                continue  # a folder that is not there cannot be written to
        self._emptiest = {device: _used(folder) for device, folder in self._folder_of.items()}

    def filled(self) -> dict[int, Added]:
        """How much each has filled up; infinitely many inodes where it does not count them."""
        found = {}
        for device, folder in self._folder_of.items():
            used = _used(folder)
            self._emptiest[device] = self._emptiest[device].at_most(used)
            risen = used - self._emptiest[device]
            found[device] = risen if used.inodes else Added(risen.bytes, math.inf)
        return found


class Changes:
    """What was changed in some folders since a time, and what of it was made since then, by device.

    A changed file counts with all of its bytes, those that were there before among them. Links are not followed, and a
    file with several names counts once. What was changed and cannot be looked at counts as infinitely much.
    """

    def __init__(self, since_ns: int) -> None:
        self.changed: dict[int, Added] = {}
        self.made: dict[int, Added] = {}
        self._since_ns = since_ns - _CLOCK_TICK_NS
        self._seen: set[tuple[int, int]] = set()

    def count(self, folders: list[str]) -> Iterator[None]:
        """Count all in the folders, and come up for air now and then."""
        left = list(folders)
        looked_at = 0
        while left:
            folder = left.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        self._add(entry)
                        if entry.is_dir(follow_symlinks=False):
                            left.append(entry.path)
                        looked_at += 1
                        if looked_at % _ENTRIES_BETWEEN_BREATHS == 0:
                            yield
            except FileNotFoundError:
                continue  # gone in the meantime
            except OSError:
                self._give_up(folder)

    def _add(self, entry: os.DirEntry[str]) -> None:
        try:
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # gone in the meantime
        device, file = facts.st_dev, (facts.st_dev, facts.st_ino)
        if facts.st_ctime_ns < self._since_ns or file in self._seen:
            return
        if facts.st_nlink > 1:
            self._seen.add(file)
        added = Added(facts.st_blocks * 512, 1)
        self.changed[device] = self.changed.get(device, Added()) + added
        if made_at_ns(entry.path) >= self._since_ns:
            self.made[device] = self.made.get(device, Added()) + added

    def _give_up(self, folder: str) -> None:
        """Count a folder that cannot be looked at, or whose path is too long to ask for it."""
        try:
            facts = os.lstat(folder)
        except FileNotFoundError:
            return
        except OSError:
            self._give_up(os.path.dirname(folder))  # noqa: PTH120 - pathlib costs start-up time
            return
        if facts.st_ctime_ns >= self._since_ns:
            self.changed[facts.st_dev] = Added(math.inf, math.inf)


def named_in_memory(since_ns: int, *, at_most: int) -> int:
    """The bytes of files in /dev/shm that were changed since a time, by whomever; `at_most` when there are many."""
    changes = Changes(since_ns)
    steps = changes.count(["/dev/shm"])  # noqa: S108 - it is only looked at
    if any(number == _MOST_STEPS_IN_MEMORY for number, _ in enumerate(steps)):
        return at_most
    return int(min(at_most, sum(each.bytes for each in changes.changed.values())))


class KeptAlive:
    """What has no name any more and is still there, as some processes hold it."""

    def __init__(self) -> None:
        self._files = tree.Files(memory.memory_devices())
        self._is_counted = False

    def count(self, pids: list[int]) -> Iterator[None]:
        """Count all that they hold, and come up for air after each."""
        yield from self._files.count(each.thread for each in memory.living(pids))
        self._is_counted = True

    def on(self, device: int) -> Added:
        """How much that is on a device: infinitely much where it cannot be seen, nothing until all is counted."""
        if not self._is_counted:
            return Added()  # what one only maps, another may hold open
        sizes = self._files.on([device])
        is_unknown = self._files.unreadable or self._files.only_mapped
        return Added(math.inf, math.inf) if is_unknown else Added(sum(sizes), len(sizes))


def _used(folder: str) -> Added:
    try:
        told = os.statvfs(folder)
    except OSError:
        return Added()
    return Added((told.f_blocks - told.f_bfree) * told.f_frsize, told.f_files - told.f_ffree)


def made_at_ns(path: str) -> int:
    """When a file was made; 0 where the file system does not note it."""
    facts = ctypes.create_string_buffer(_STATX_BYTES)
    if _libc.statx(_AT_FDCWD, os.fsencode(path), _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, facts) != 0:
        return 0
    (told,) = struct.unpack_from("=I", facts)
    seconds, nanoseconds = struct.unpack_from("=qI", facts, _OFFSET_OF_BTIME)
    return int(seconds * 1_000_000_000 + nanoseconds) if told & _STATX_BTIME else 0
