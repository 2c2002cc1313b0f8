"""Looks at a process of this machine: whether it lives, and what it takes."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.shipping import Measurement


@dataclass(frozen=True, slots=True)
class Use:
    cpu_s: float
    """Processor time since it was started."""
    memory_bytes: int


def use_of(pid: int) -> Use | None:
    """What a process takes; None when it is dead."""
    with suppress(OSError, IndexError, ValueError):
        facts = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        if facts[0] not in (b"Z", b"X"):
            ticks = int(facts[11]) + int(facts[12])
            return Use(ticks / os.sysconf("SC_CLK_TCK"), int(facts[21]) * os.sysconf("SC_PAGE_SIZE"))
    return None


class ProcessProbe:
    """Measures `up@NAME`, `cpu@NAME` as a share of one processor, and `memory_bytes@NAME`."""

    def __init__(self, name: str, pid: int) -> None:
        self._name, self._pid = name, pid
        self._before: tuple[float, float] | None = None

    async def sample(self) -> tuple[Measurement, ...]:
        at, now, use = time.time(), time.monotonic(), use_of(self._pid)
        share = None
        if use is not None and self._before is not None and now > self._before[0]:
            share = (use.cpu_s - self._before[1]) / (now - self._before[0])
        self._before = (now, use.cpu_s) if use else None
        found = {"up": float(use is not None), "cpu": share, "memory_bytes": float(use.memory_bytes) if use else None}
        return tuple(Measurement(metric=f"{key}@{self._name}", value=value, at=at) for key, value in found.items())
