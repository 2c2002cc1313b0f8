"""Counts the lines of a log that match, as they are written."""

from __future__ import annotations

import re
import time
from pathlib import Path

from milepost.core.shipping import Measurement

LARGEST_READ = 4_000_000


class LogProbe:
    """Measures `lines@NAME`: how many whole lines matched since the last look. What was there before is not counted."""

    def __init__(self, name: str, path: Path, pattern: str) -> None:
        self._name, self._path = name, path
        self._pattern = re.compile(pattern.encode())
        self._place = self._stat()

    async def sample(self) -> tuple[Measurement, ...]:
        at, count = time.time(), self._count()
        return (Measurement(metric=f"lines@{self._name}", value=count, at=at),)

    def _count(self) -> float | None:
        before, now = self._place, self._stat()
        if now is None:
            return None
        start = before[1] if before is not None and before[0] == now[0] and before[1] <= now[1] else 0
        try:
            with self._path.open("rb") as stream:
                stream.seek(start)
                said = stream.read(LARGEST_READ)
        except OSError:
            return None
        whole = said.rpartition(b"\n")[0]
        read = len(whole) + 1 if b"\n" in said else len(said) if len(said) == LARGEST_READ else 0
        self._place = (now[0], start + read)
        return float(sum(1 for line in whole.splitlines() if self._pattern.search(line)))

    def _stat(self) -> tuple[int, int] | None:
        """Which file it is, and how long."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size
