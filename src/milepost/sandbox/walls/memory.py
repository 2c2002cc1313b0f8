"""How much memory a tree of processes uses: a figure that is cheap and never too low, and one that is exact.

What the processes share is counted once in the exact figure; memory that is a file without a name (a memfd, a deleted
file of /dev/shm) is counted although nobody has mapped it. Files with a name are for `disk` to count.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import tree

_KIB = 1024
_NEVER_SHARED = (b"VmPTE", b"HugetlbPages")
_USED = (b"RssAnon", b"RssShmem", b"VmSwap", *_NEVER_SHARED)
_PROPORTIONAL = (b"Pss_Anon", b"SwapPss")
_NAMELESS_MAPPING = re.compile(
    rb"^[0-9a-f]+-\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+)[^\n]* \(deleted\)$.*?^Pss:\s+(\d+)",
    re.MULTILINE | re.DOTALL,
)
_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}.get(platform.machine())
_KCMP_VM = 1

_libc = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Living:
    """A process that has memory: its number, a living thread of it as a folder in /proc, and that thread's status."""

    pid: int
    thread: str
    status: bytes

    def at_most(self) -> int:
        """What it uses in bytes, all that it shares with others included."""
        return _sum(self.status, _USED)


def living(pids: list[int]) -> list[Living]:
    """Those of the processes that still have memory."""
    return [found for pid in pids if (found := _living(pid)) is not None]


class Exact:
    """What some processes use together in bytes, what they share counted once.

    One that does not let itself be looked into is counted with all that it could use, `shared_by_somebody` included.
    """

    def __init__(self, processes: list[Living], *, shared_by_somebody: int) -> None:
        self.bytes = 0
        self._processes = processes
        self._shared_by_somebody = shared_by_somebody

    def count(self) -> Iterator[None]:
        """Count, and come up for air after each process: one that forks may keep who looks into it waiting."""
        devices = memory_devices()
        files = tree.Files(devices)
        yield from files.count(each.thread for each in self._processes)
        self.bytes = self._shared_by_somebody if files.unreadable else sum(files.on(devices))
        for each in _with_memory_of_their_own(self._processes):
            try:
                self.bytes += _share(each, files, devices)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
            except OSError:
                self.bytes += each.at_most()
            yield


def machines_shared_memory() -> int:
    """The bytes of shared memory on this machine, mapped or not, of whomever."""
    return _sum(tree.read("/proc/meminfo"), (b"Shmem",))


def memory_devices() -> frozenset[int]:
    """The devices whose files are memory: that of memfds and shared mappings, and /dev/shm."""
    unnamed = os.memfd_create("device")
    try:
        found = {os.fstat(unnamed).st_dev}
    finally:
        os.close(unnamed)
    with contextlib.suppress(OSError):
        found.add(os.stat("/dev/shm").st_dev)  # noqa: PTH116, S108 - it is asked for its number only
    return frozenset(found)


def _living(pid: int) -> Living | None:
    with contextlib.suppress(OSError):
        leader = f"/proc/{pid}"
        status = tree.read(f"{leader}/status")
        if b"\nRssAnon:" in status:
            return Living(pid=pid, thread=leader, status=status)
        for thread in tree.threads_of(pid):
            status = tree.read(f"{thread}/status")
            if b"\nRssAnon:" in status:
                return Living(pid=pid, thread=thread, status=status)
    return None


def _sum(text: bytes, names: tuple[bytes, ...]) -> int:
    """The sum of some lines like `VmPTE:  64 kB`, in bytes. By hand: a regular expression takes ten times as long."""
    total = 0
    for name in names:
        start = text.find(b"\n%b:" % name)
        if start >= 0:
            total += int(text[start + len(name) + 2 : text.index(b"kB", start)])
    return total * _KIB


def _share(process: Living, files: tree.Files, devices: frozenset[int]) -> int:
    told = tree.read(f"{process.thread}/smaps_rollup")
    share = _sum(told, _PROPORTIONAL) + _sum(process.status, _NEVER_SHARED)
    return share + _only_mapped(process, files, devices) if _sum(told, (b"Pss_Shmem",)) else share


def _only_mapped(process: Living, files: tree.Files, devices: frozenset[int]) -> int:
    """The process's share of the memory files that have no name and that nobody holds open."""
    total = 0
    for major, minor, inode, share in _NAMELESS_MAPPING.findall(tree.read(f"{process.thread}/smaps")):
        device = os.makedev(int(major, 16), int(minor, 16))
        if device in devices and (device, int(inode)) not in files.bytes_of:
            total += int(share) * _KIB
    return total


def _with_memory_of_their_own(processes: list[Living]) -> Iterator[Living]:
    """The processes without those that borrow the memory of another, as a child does between vfork and exec."""
    owners: dict[int, list[Living]] = {}
    for each in processes:
        alike = owners.setdefault(each.at_most(), [])
        if not any(_is_the_same_memory(each.pid, owner.pid) for owner in alike):
            alike.append(each)
            yield each


def _is_the_same_memory(one: int, other: int) -> bool:
    if _KCMP is None:
        return False
    return int(_libc.syscall(_KCMP, one, other, _KCMP_VM, 0, 0)) == 0
