"""The lock of a state directory: one engine at a time, and who it is."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from milepost.core.errors import EngineBusy, StateUnwritable
from milepost.core.under_way import under_way

ORPHANS_WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The engine that holds a state directory."""

    pid: int
    born: str
    run: str
    since: float

    @property
    def alive(self) -> bool:
        """True while the very process lives that wrote this, not another one under its number."""
        return self.born != "" and _born(self.pid) == self.born


def unwritable(folder: Path, error: OSError) -> StateUnwritable:
    return StateUnwritable(
        f"{str(folder)!r} cannot be written: {error.strerror or error}", "make it writable or free some space"
    )


def holder_of(folder: Path) -> Holder | None:
    """Who holds a state directory now, if anybody."""
    try:
        fd = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return read_holder(fd)
    finally:
        os.close(fd)
    return None


class StateLock:
    """An flock on the state directory, shared with our children so that they hold back the next engine.

    A lock whose writer is dead is held by orphans that are finishing: that is waited for.
    """

    def __init__(self, folder: Path, run: str = "") -> None:
        self._folder = folder
        self._run = run
        self.fd = -1

    def __enter__(self) -> StateLock:
        try:
            self._folder.mkdir(exist_ok=True)
            self.fd = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise unwritable(self._folder, error) from error
        try:
            self._take()
            self.name_run(self._run)
        except BaseException:
            os.close(self.fd)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            os.ftruncate(self.fd, 0)
        os.close(self.fd)

    def name_run(self, run: str) -> None:
        """Write down who holds the lock, and for which run."""
        me = {"pid": os.getpid(), "born": _born(os.getpid()), "run": run, "since": time.time()}
        try:
            text = json.dumps(me).encode()
            os.pwrite(self.fd, text, 0)
            os.ftruncate(self.fd, len(text))
        except OSError as error:
            raise unwritable(self._folder, error) from error

    def _take(self) -> None:
        if not self._is_free():
            with under_way("waiting for the last processes of an engine that died"):
                self._wait_for_orphans()

    def _is_free(self) -> bool:
        """Take the lock if nobody has it; raises where a living engine does."""
        with suppress(BlockingIOError):
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        holder = read_holder(self.fd)
        if holder is not None and holder.alive:
            raise busy(holder)
        return False

    def _wait_for_orphans(self) -> None:
        waited_until = time.monotonic() + ORPHANS_WAIT_S
        while not self._is_free():
            if time.monotonic() > waited_until:
                raise EngineBusy(
                    f"processes of an engine that died still lock {str(self._folder)!r}",
                    f"find them with: fuser {self._folder / 'lock'}",
                )
            time.sleep(0.02)


def busy(holder: Holder) -> EngineBusy:
    what = f"run {holder.run}" if holder.run else "milepost"
    since = time.strftime("%H:%M", time.localtime(holder.since))
    return EngineBusy(
        f"{what} is already in progress here (pid {holder.pid} on this machine, since {since})",
        "milepost status shows it; milepost stop ends it",
    )


def read_holder(fd: int) -> Holder | None:
    """Who wrote down in a lock that they hold it, if that can be read."""
    try:
        return Holder(**json.loads(os.pread(fd, 4096, 0)))
    except (OSError, ValueError, TypeError):
        return None


def _born(pid: int) -> str:
    """When a process started, in the kernel's ticks: tells a process from a later one of the same number.

    Empty for one that is dead, also when its parent has not taken note of that yet.
    """
    try:
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if facts[0] in ("Z", "X") else facts[19]
    except (OSError, IndexError):
        return ""
