"""A command that neither says nor computes anything, such as a server that nobody stops."""

from __future__ import annotations

import os
from collections.abc import Callable

from milepost.sandbox.walls import tree

BUSY_SHARE = 0.01  # of one processor: a program that only waits for its next timer uses less


class Stall:
    """Tells when a command has been still for too long: no output, and no more work than waiting takes.

    `cpu_s` gives the processor time that it has used so far, None where nobody can tell: then it is never still.
    """

    def __init__(self, limit_s: float | None, cpu_s: Callable[[], float | None]) -> None:
        self._limit_s = limit_s
        self._cpu_s = cpu_s
        self._since: float | None = None
        self._used: float | None = None

    @property
    def words(self) -> str:
        return f"said nothing and did nothing for {self._limit_s or 0:g} s, as a server that nobody stops"

    def heard(self, now: float) -> None:
        """It said something."""
        self._since, self._used = now, None

    def is_over(self, now: float) -> bool:
        if self._limit_s is None:
            return False
        if self._since is None or self._used is None:
            self._since, self._used = now, self._cpu_s()
            return False
        if now - self._since < self._limit_s:
            return False
        used = self._cpu_s()
        if used is not None and used - self._used <= BUSY_SHARE * (now - self._since):
            return True
        self._since, self._used = now, used
        return False


def cpu_of_guest(relay: int) -> float | None:
    """The processor time of the processes below a relay, those that are gone among them; `relay` is a pidfd.

    What the relay and its helpers use themselves is no work of the guest: they are known by their command line.
    """
    try:
        pid = _pid_of(relay)
        walls = tree.read(f"/proc/{pid}/cmdline")
        return sum(_ticks(each, walls) for each in (pid, *tree.descendants(pid))) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, StopIteration):
        return None


def _pid_of(pidfd: int) -> int:
    rows = tree.read(f"/proc/self/fdinfo/{pidfd}").decode().splitlines()
    return int(next(row for row in rows if row.startswith("Pid:")).split()[1])


def _ticks(pid: int, walls: bytes) -> int:
    try:
        facts = tree.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        is_walls = tree.read(f"/proc/{pid}/cmdline") == walls
    except OSError:  # gone in between: its parent has it from now on
        return 0
    own, waited_for = int(facts[11]) + int(facts[12]), int(facts[13]) + int(facts[14])
    return waited_for + (0 if is_walls else own)
