"""How all that descends from this process is ended, and what it had used."""

from __future__ import annotations

import contextlib
import os
import resource
import signal

from . import tree

_TICKS = os.sysconf("SC_CLK_TCK")


def sweep(guest: int) -> int:
    """Kill and reap every descendant of this process; returns how `guest` ended.

    Each round kills the tree as it stands and then waits for a death. Whatever was forked meanwhile is a child of
    something that was just killed, so it is adopted here before the next round, however it tried to get away.
    """
    ending = 0
    while True:
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0] != 0:
                ending = reaped[1] if reaped[0] == guest else ending
            kill_all_below()
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            return ending


def deaths_of_children() -> int:
    """A descriptor that can be read whenever a child of this process has died."""
    told, tells = os.pipe()
    os.set_blocking(told, False)
    os.set_blocking(tells, False)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    return told


def next_death() -> int | None:
    """A child that has died and was not waited for yet."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if found is None else found.si_pid


def kill_all_below() -> None:
    """Send SIGKILL to everything that descends from this process at this moment."""
    if os.getpid() == 1:  # of a pid namespace, where there is nobody else
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    for child in tree.children(os.getpid()):
        kill_tree(child)


def kill_tree(child: int) -> None:
    """Send SIGKILL to a child of this process, its group, and all that descend from it at this moment.

    A child's number cannot belong to anybody else while it was not waited for. Its group is its own from the start and
    holds nothing but guests, except for the moment before that, when it is still ours.
    """
    doomed = [child]
    with contextlib.suppress(OSError):
        group = os.getpgid(child)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
    for pid in doomed:  # each at once, or a tree that grows would never be walked to its end
        doomed.extend(tree.children(pid))
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def cpu_s() -> float:
    """The processor time of all below this process, those that are gone as far as somebody waited for them."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for pid in tree.descendants(os.getpid()):
        with contextlib.suppress(OSError, IndexError):
            ticks += sum(map(int, tree.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[11:15]))
    return usage.ru_utime + usage.ru_stime + ticks / _TICKS


def peak_memory(pid: int) -> int:
    """The most bytes of memory that a process ever held, by the kernel's account."""
    with contextlib.suppress(OSError):
        for line in tree.read(f"/proc/{pid}/status").splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _nothing(number: int, frame: object) -> None:
    """A signal with a handler wakes whoever polls; there is nothing to do in it."""
