"""Watches what a guest's whole tree uses where no wall can bound it: memory, disk, inodes.

It looks from time to time, so a guest may use more for a moment; how often depends on how soon the tree could be at its
bound. The relay calls `look` whenever `interval_ms` has passed; a look takes a few milliseconds at most.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

from . import disk, memory, tree

_MEBIBYTE = 1 << 20
Verdict = tuple[str, str]
_OVER = object()

# How quickly a tree fills up a machine, and so how soon to look again.
_MEMORY_BYTES_PER_S = 4e9
_DISK_BYTES_PER_S = 1e9
_INODES_PER_S = 50e3
_MEMORY_PAUSE_S = (0.01, 0.25)
_DISK_PAUSE_S = (0.02, 1.0)
# After so many looks without a change the pause is twice as long, and so on.
_STILL_LOOKS = 4

# A look is followed by a pause of at least so many times the work it took.
_REST = 10
# Others who make room hide what the guest writes from the sign, so it is counted without one now and then.
_BETWEEN_STROLLS_S = 5.0
_LONG_REST = 100
_LONGEST_STRETCH_S = 0.003
_BETWEEN_STRETCHES_S = 0.006


class Watchdog:
    """Looks after all descendants of this process, and what they add to `folders`.

    Of `bounds` it takes `memory_mb`, `disk_mb` and `inodes`, each absent or None when it is not to be watched; `names`
    are the names of what is. Of `folders`, those that are `own` lie on file systems that nobody else writes to; those
    that are `shared` may lie on any.
    """

    def __init__(self, bounds: Mapping[str, Any], folders: Mapping[str, list[str]]) -> None:
        memory_mb, disk_mb, inodes = (bounds.get(name) for name in ("memory_mb", "disk_mb", "inodes"))
        self._memory = None if memory_mb is None else _MemoryWatch(memory_mb)
        self._disk = None if disk_mb is None and inodes is None else _DiskWatch(disk_mb, inodes, **folders)
        watched = {"watchdog-memory": memory_mb, "watchdog-disk": disk_mb, "watchdog-inodes": inodes}
        self.names = [name for name, bound in watched.items() if bound is not None]

    @property
    def interval_ms(self) -> int | None:
        """How long to wait before the next look; None when there is nothing to watch."""
        due = [watch.due for watch in (self._memory, self._disk) if watch is not None]
        return max(0, math.ceil((min(due) - time.monotonic()) * 1000)) if due else None

    @property
    def peak_bytes(self) -> int:
        """The most memory that was seen in use."""
        return 0 if self._memory is None else self._memory.peak_bytes

    def look(self) -> Verdict | None:
        """Why the tree must end now, as a termination and in words; None while it is within its bounds."""
        for watch in (self._memory, self._disk):
            if watch is not None and time.monotonic() >= watch.due and (verdict := watch.look()):
                return verdict
        return None


class _MemoryWatch:
    """The memory of the tree: cheaply at each look, exactly when it could be too much."""

    def __init__(self, megabytes: int) -> None:
        self.due = 0.0
        self.peak_bytes = 0
        self._megabytes = megabytes
        self._bound = megabytes * _MEBIBYTE
        self._started_ns = time.time_ns()
        self._least_shared = memory.machines_shared_memory()
        self._used = 0
        self._still = 0
        self._worked_s = 0.0
        self._exact: _ExactLook | None = None

    def look(self) -> Verdict | None:
        began_s = time.process_time()
        used = self._exactly() if self._exact is not None else self._cheaply()
        self._worked_s += time.process_time() - began_s
        if used is None:
            self.due = time.monotonic()
            return None
        self.peak_bytes = max(self.peak_bytes, used)
        self._still = self._still + 1 if used == self._used else 0
        self._used = used
        soonest_s = (self._bound - used) / _MEMORY_BYTES_PER_S * (1 + self._still / _STILL_LOOKS)
        self.due = time.monotonic() + max(_within(_MEMORY_PAUSE_S, soonest_s), _REST * self._worked_s)
        self._worked_s = 0.0
        return ("memory", f"used more than {self._megabytes} MB of memory") if used > self._bound else None

    def _cheaply(self) -> int | None:
        """What it uses at most; where that could be too much, what it uses exactly."""
        processes = memory.living(tree.descendants(tree.own_number()))
        used = sum(each.at_most() for each in processes)
        shared = self._shared_by_somebody()
        if used + shared <= self._bound:
            return used
        named = disk.named_in_memory(self._started_ns, at_most=shared)
        self._exact = _ExactLook(memory.Exact(processes, shared_by_somebody=shared - named), named)
        return self._exactly()

    def _exactly(self) -> int | None:
        """What it uses; None while that is not all counted."""
        assert self._exact is not None
        if not self._exact.stretches.go_on():
            return None
        used, self._exact = self._exact.bytes, None
        return used

    def _shared_by_somebody(self) -> int:
        """The shared memory that the guest may have made and mapped nowhere, or any other on this machine."""
        shared = memory.machines_shared_memory()
        self._least_shared = min(self._least_shared, shared)
        return shared - self._least_shared


class _DiskWatch:
    """What is added to all folders together: by the sign at each look, by a walk when it could be too much.

    In folders on file systems of the tree's own the sign is exact.
    """

    def __init__(self, megabytes: int | None, inodes: int | None, *, shared: list[str], own: list[str]) -> None:
        self.due = 0.0
        self._started_ns = time.time_ns()
        self._shared = shared
        self._file_systems = disk.FileSystems(shared)
        self._own_file_systems = disk.FileSystems(own)
        self._bound = disk.Added(_or_infinite(megabytes) * _MEBIBYTE, _or_infinite(inodes))
        self._by_others = disk.Added()
        self._walk: _Walk | None = None
        self._stroll_at = time.monotonic() + _BETWEEN_STROLLS_S

    def look(self) -> Verdict | None:
        filled = self._file_systems.filled()
        own = sum(self._own_file_systems.filled().values(), disk.Added())
        total = sum(filled.values(), own)
        is_suspicious = (total - self._by_others).exceeds(self._bound)
        if self._walk is None and (is_suspicious or time.monotonic() >= self._stroll_at):
            self._walk = _Walk(self._started_ns, self._shared)
        if self._walk is None:
            left = self._bound - (total - self._by_others)
            soonest_s = min(left.bytes / _DISK_BYTES_PER_S, left.inodes / _INODES_PER_S)
            self.due = time.monotonic() + _within(_DISK_PAUSE_S, soonest_s)
            return None
        is_over = self._walk.stretches.go_on()
        added = self._walk.added(filled) + own
        self.due = time.monotonic() + _BETWEEN_STRETCHES_S
        if is_over:
            self.due = time.monotonic() + max(_DISK_PAUSE_S[0], _REST * self._walk.stretches.took_s)
            self._stroll_at = time.monotonic() + max(_BETWEEN_STROLLS_S, _LONG_REST * self._walk.stretches.took_s)
            self._by_others = (total - added).where_finite()
            self._walk = None
        return self._verdict(added)

    def _verdict(self, added: disk.Added) -> Verdict | None:
        if added.bytes > self._bound.bytes:
            return "disk", f"wrote more than {self._bound.bytes / _MEBIBYTE:.0f} MB"
        if added.inodes > self._bound.inodes:
            return "disk", f"made more than {self._bound.inodes:.0f} files"
        return None


class _ExactLook:
    """One exact look at the memory of the tree."""

    def __init__(self, counted: memory.Exact, named: int) -> None:
        self._counted = counted
        self._named = named
        self.stretches = _Stretches(counted.count())

    @property
    def bytes(self) -> int:
        return self._counted.bytes + self._named


class _Stretches:
    """Work in stretches short enough not to keep the relay from its other work; `took_s` is the time they took."""

    def __init__(self, steps: Iterator[None]) -> None:
        self._steps = steps
        self.took_s = 0.0

    def go_on(self) -> bool:
        """Work for a while; True when all is done."""
        began = time.monotonic()
        is_over = False
        while not is_over and time.monotonic() - began < _LONGEST_STRETCH_S:
            is_over = next(self._steps, _OVER) is _OVER
        self.took_s += time.monotonic() - began
        return is_over


class _Walk:
    """One count of what the tree has added."""

    def __init__(self, started_ns: int, folders: list[str]) -> None:
        self._nameless = disk.KeptAlive()
        self._changes = disk.Changes(started_ns)
        held = self._nameless.count(tree.descendants(tree.own_number()))
        self.stretches = _Stretches(itertools.chain(held, self._changes.count(folders)))

    def added(self, filled: Mapping[int, disk.Added]) -> disk.Added:
        """What was counted so far: all that was made, and what was changed as far as it is missing on the disk."""
        total = disk.Added()
        for device, missing in filled.items():
            changed = self._changes.changed.get(device, disk.Added()) + self._nameless.on(device)
            total += changed.at_most(missing).at_least(self._changes.made.get(device, disk.Added()))
        return total


def _within(shortest_and_longest: tuple[float, float], value: float) -> float:
    shortest, longest = shortest_and_longest
    return min(max(value, shortest), longest)


def _or_infinite(bound: int | None) -> float:
    return math.inf if bound is None else bound
