"""Who will end an episode: a run, which can go on later, or a process of a machine, which cannot once it is gone."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MACHINE_ID = Path("/etc/machine-id")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PROCESSES = "/proc/self/ns/pid"  # processes are numbered anew in each container


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineId:
    """Where processes have their numbers: a machine, since it was started, and in it a space of numbers."""

    machine: str
    boot: str
    space: str


def run_owner(run: str) -> str:
    """The owner of what a run does."""
    return f"run {run}"


def owner_here() -> str:
    """This process, as nobody else is called: by its machine, when that was started, its number and its beginning."""
    return _owner(_place(), os.getpid())


def is_gone(owner: str) -> bool:
    """Whether an owner is a process of this machine that is no more. Of all others nobody can say that here."""
    words = owner.split(" ")
    if len(words) != 6 or words[0] != "process" or not words[4].isdigit():
        return False
    here = _place()
    if words[1] != here.machine:
        return False
    if words[2] != here.boot:
        return bool(words[2].strip("-") and here.boot.strip("-"))
    return words[3] == here.space and _ended(int(words[4]), words[5])


@cache
def _place() -> MachineId:
    machine = f"{socket.gethostname()}/{_read(MACHINE_ID)[:8]}"
    try:
        space = str(os.stat(PROCESSES).st_ino)  # noqa: PTH116 - not of the link
    except OSError:
        space = "-"
    return MachineId(machine="_".join(machine.split()), boot=_read(BOOT_ID), space=space)


def _owner(place: MachineId, pid: int) -> str:
    found = _status(pid)
    return f"process {place.machine} {place.boot} {place.space} {pid} {found[1] if found else '-'}"


def _ended(pid: int, began: str) -> bool:
    found = _status(pid)
    if found is not None:
        state, now_began = found
        return state in "ZX" or began not in ("-", now_began)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _status(pid: int) -> tuple[str, str] | None:
    """The state of a process and when it began, as the kernel tells; None where it tells nothing."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (told[0], told[19]) if len(told) > 19 else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() or "-"
    except OSError:
        return "-"
