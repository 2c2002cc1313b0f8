"""How many processes and threads a guest may have, where no wall of the kernel counts them.

It looks from time to time. A fork cannot be asked about before it happens: a signal takes a question back, and then it
fails in a way that programs do not know of it.
"""

from __future__ import annotations

import contextlib
import os
import time

from . import tree

_FORKS_PER_S = 10_000.0
_PAUSE_S = (0.005, 0.25)


class Crowd:
    """Counts all below this process, threads too; `most` None counts nothing."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._due = 0.0
        self.names = [] if most is None else ["watchdog-processes"]

    @property
    def interval_ms(self) -> float | None:
        """How long to wait before the next look; None when there is nothing to count."""
        return None if self._most is None else max(0.0, self._due - time.monotonic()) * 1000

    def look(self) -> tuple[str, str] | None:
        """Why the tree must end now, as a termination and in words."""
        if self._most is None or time.monotonic() < self._due:
            return None
        count = 0
        for pid in tree.descendants(os.getpid()):
            with contextlib.suppress(OSError):
                count += len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - names only, and often
        if count > self._most:
            return "processes", f"had more than {self._most} processes and threads"
        pause_s = (self._most - count) / _FORKS_PER_S
        self._due = time.monotonic() + min(max(pause_s, _PAUSE_S[0]), _PAUSE_S[1])
        return None
