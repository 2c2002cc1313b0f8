"""Processes that outlive whoever started them, known again by a mark in their environment.

A number alone may be another process by now: it is told by the ticks at which it started, and what belongs to an
instance carries the instance's mark, its children among them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "MILEPOST_INSTANCE"
_LISTENS = "0A"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process for all time: its number, and the tick at which it started."""

    pid: int
    ticks: int

    @property
    def alive(self) -> bool:
        return born(self.pid) == self.ticks


def born(pid: int) -> int | None:
    """The tick at which a process started; None when it is dead, also while its parent has not noted it."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return None if facts[0] in (b"Z", b"X") else int(facts[19])
    except (OSError, IndexError, ValueError):
        return None


def leader_of(mark: str) -> Process | None:
    """The process that was started with this mark: the first of its session."""
    for pid in carrying(mark):
        ticks = born(pid)
        with suppress(OSError):
            if ticks is not None and os.getsid(pid) == pid:
                return Process(pid=pid, ticks=ticks)
    return None


def carrying(mark: str) -> Iterator[int]:
    """The living processes of this user with a mark, or with one below it (`a/b` carries `a`, too)."""
    for pid in _all():
        if _carries(pid, mark) and born(pid) is not None:
            yield pid


def mark_of(pid: int) -> str:
    """The mark that a process carries; empty without one, or for a process of somebody else."""
    with suppress(OSError):
        for variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if variable.startswith(f"{MARK}=".encode()):
                return os.fsdecode(variable.partition(b"=")[2])
    return ""


def tell(mark: str, number: signal.Signals) -> bool:
    """Send a signal to all that carries a mark; whether anything did."""
    found = False
    for pid in list(carrying(mark)):
        with suppress(ProcessLookupError, PermissionError), _held(pid) as handle:
            if _carries(pid, mark):  # this very process, now that it is held
                signal.pidfd_send_signal(handle, number)
                found = True
    return found


def stop(mark: str, grace_s: float) -> None:
    """End all that carries a mark: asked first, killed after the grace."""
    until = time.monotonic() + grace_s
    tell(mark, signal.SIGTERM)
    while any(carrying(mark)):
        if time.monotonic() >= until:
            tell(mark, signal.SIGKILL)
        time.sleep(0.02)


def listens(port: int, mark: str) -> bool:
    """Whether somebody listens on a port of this machine, and everybody who does carries the mark."""
    sockets = _listening(port)
    return bool(sockets) and sockets <= _sockets_of(carrying(mark))


def stranger_on(port: int, mark: str) -> str:
    """Who listens on a port and does not carry the mark, as far as it can be seen; empty for nobody."""
    others = _listening(port) - _sockets_of(carrying(mark))
    if not others:
        return ""
    for pid in _all():
        if _sockets_of([pid]) & others:
            with suppress(OSError):
                return f"{Path(f'/proc/{pid}/comm').read_text().strip()} (pid {pid})"
    return "a process of another user"


def _all() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _listening(port: int) -> set[str]:
    """The sockets that listen on a port, by their numbers in the kernel."""
    found = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found


def _sockets_of(pids: Iterator[int] | list[int]) -> set[str]:
    found = set()
    for pid in pids:
        with suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    kind, _, number = os.readlink(entry).partition(":[")  # noqa: PTH115 (it leads to no file)
                    if kind == "socket":
                        found.add(number.rstrip("]"))
    return found


def _carries(pid: int, mark: str) -> bool:
    return mark in ((here := mark_of(pid)), *_above(here))


def _above(mark: str) -> tuple[str, ...]:
    """`a/b/c` lies in `a/b` and in `a`."""
    parts = mark.split("/")
    return tuple("/".join(parts[:length]) for length in range(1, len(parts)))


@contextmanager
def _held(pid: int) -> Iterator[int]:
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)
