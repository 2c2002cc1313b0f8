"""Boundaries: the moments right after something was recorded, where `milepost chaos` kills the process.

Nothing happens here in a normal run. Two variables change that:

- MILEPOST_CHAOS_SEEN names a file: the process kills itself at the first boundary whose name is not in it yet, and
  writes the name down before it dies. Each next life comes one boundary further.
- MILEPOST_CHAOS_TRACE names a file that tells what was really done: `made NAME` when a step or a call begins,
  `recorded NAME` once its result is recorded. A name that is made after it was recorded was done twice.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

SEEN, TRACE = "MILEPOST_CHAOS_SEEN", "MILEPOST_CHAOS_TRACE"

_lock = threading.Lock()


def trace(name: str) -> None:
    """Something is about to be done that will be recorded; `name` is the one that `reached` will be told."""
    _note(f"made {name}\n")


def reached(name: str) -> None:
    """Something was recorded; `name` says what, the same in each life of the run."""
    _note(f"recorded {name}\n")
    if place := os.environ.get(SEEN):
        with _lock:
            _die_unless_seen(Path(place), name)


def _note(line: str) -> None:
    """Add a line to the trace, whole whoever else writes: what was written survives the process."""
    if place := os.environ.get(TRACE):
        descriptor = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def _die_unless_seen(place: Path, name: str) -> None:
    with place.open("a+", encoding="utf-8") as seen:
        seen.seek(0)
        if name in seen.read().splitlines():
            return
        seen.write(f"{name}\n")
        seen.flush()
        os.fsync(seen.fileno())
        os.kill(os.getpid(), signal.SIGKILL)
