"""Who belongs to a guest: the processes that descend from the one that keeps it."""

from __future__ import annotations

import os

from .. import tree


def is_ours(pid: int) -> bool:
    """Whether a process or thread descends from this one, and is not it; or as 0 or below, a group of processes.

    A group is of one session, and the guest's sessions begin with itself.
    """
    keeper = os.getpid()
    if pid <= 0:
        return pid == 0 or any(_group(each) == -pid for each in tree.descendants(keeper))
    while pid not in (0, keeper):
        pid = _parent(pid)
        if pid == keeper:
            return True
    return False


def _parent(pid: int) -> int:
    """The parent of a process or thread; 0 when there is none."""
    try:
        return int(tree.read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()[1])
    except OSError:
        return 0


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0
