"""The processes below this one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def below(ancestor: int) -> dict[int, str]:
    """Every living process that descends from `ancestor`, with its name."""
    children: dict[int, list[tuple[int, str, str]]] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit():
                name, _, rest = (entry / "stat").read_text(errors="replace").partition("(")[2].rpartition(") ")
                state, parent = rest.split()[:2]
                children.setdefault(int(parent), []).append((int(entry.name), state, name))
    found: dict[int, str] = {}
    known = [ancestor]
    for pid in known:
        for child, state, name in children.get(pid, ()):
            known.append(child)
            if state not in "ZX":
                found[child] = name
    return found


def end(pids: set[int]) -> None:
    """Kill these children and adopted children of this process, and what they leave."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
