"""Boundaries: the moments right after something was recorded, where `milepost chaos` kills the process.

Nothing happens here in a normal run. With MILEPOST_CHAOS_SEEN naming a file, the process kills itself at the first
boundary whose name is not in that file yet, and writes the name down before it dies: each next life comes one
boundary further.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

_SEEN = os.environ.get("MILEPOST_CHAOS_SEEN", "")
_lock = threading.Lock()


def reached(name: str) -> None:
    """Something was recorded; `name` says what, the same in each life of the run."""
    if not _SEEN:
        return
    with _lock, Path(_SEEN).open("a+", encoding="utf-8") as seen:
        seen.seek(0)
        if name in seen.read().splitlines():
            return
        seen.write(f"{name}\n")
        seen.flush()
        os.fsync(seen.fileno())
        os.kill(os.getpid(), signal.SIGKILL)
