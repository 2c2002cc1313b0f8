"""When probes look, and when what they say counts: one loop for all of them, in a thread of its own.

A probe never overlaps with itself and never catches up: a round that comes too late is left out.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from milepost.core.ports import Probe
from milepost.core.shipping import Measurement

_GOLDEN = 0.618033988749895


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a probe looks, how long it may take, and how many looks in a row change an opinion."""

    interval_s: float = 1.0
    timeout_s: float = 2.5
    """Longer than a probe gives what it asks: that this does not answer is no missing look."""
    up: int = 2
    down: int = 2


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether something is up, by several looks. None: nothing is known yet."""

    up: bool | None = None
    differing: int = 0


def after_look(opinion: Opinion, seen: bool | None, pace: Pace) -> Opinion:
    """The opinion after one more look; a look that could not tell changes nothing."""
    if seen is None:
        return opinion
    if seen is opinion.up:
        return replace(opinion, differing=0)
    differing = opinion.differing + 1
    if opinion.up is None or differing >= (pace.up if seen else pace.down):
        return Opinion(up=seen)
    return replace(opinion, differing=differing)


def next_at(started: float, now: float, index: int, interval_s: float) -> float:
    """The next moment of a probe after now; those of many probes are spread evenly over the interval."""
    first = started + index * _GOLDEN % 1.0 * interval_s
    return first if now < first else first + (math.floor((now - first) / interval_s) + 1) * interval_s


class Rounds:
    """Looks with all probes until it is closed, and knows what each said last."""

    def __init__(self, probes: Mapping[str, Probe], paces: Mapping[str, Pace] | None = None) -> None:
        self._probes, self._paces = dict(probes), dict(paces or {})
        self._lock, self._over = threading.Lock(), threading.Event()
        self._found: list[Measurement] = []
        self._opinions: dict[str, Opinion] = dict.fromkeys(self._probes, Opinion())
        self._seen_at: dict[str, float] = {}
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> Rounds:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def taken(self) -> tuple[Measurement, ...]:
        """What was measured since this was asked last."""
        with self._lock:
            found, self._found = tuple(self._found), []
        return found

    def opinion(self, name: str) -> bool | None:
        """Whether it is up, by the thresholds of its pace; None also when nobody could look for too long."""
        with self._lock:
            pace = self._paces.get(name, Pace())
            stale = time.monotonic() - self._seen_at.get(name, -math.inf) > 3 * pace.interval_s + pace.timeout_s
            return None if stale else self._opinions[name].up

    async def _run(self) -> None:
        started = time.monotonic()
        tasks = [asyncio.create_task(self._repeat(name, at, started)) for at, name in enumerate(self._probes)]
        while not self._over.is_set():
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _repeat(self, name: str, index: int, started: float) -> None:
        pace = self._paces.get(name, Pace())
        while True:
            now = time.monotonic()
            await asyncio.sleep(next_at(started, now, index, pace.interval_s) - now)
            try:
                async with asyncio.timeout(pace.timeout_s):
                    found = await self._probes[name].sample()
            except TimeoutError:
                found = (Measurement(metric=f"up@{name}", value=None, at=time.time()),)
            self._keep(name, found, pace)

    def _keep(self, name: str, found: Iterable[Measurement], pace: Pace) -> None:
        with self._lock:
            self._found += found
            self._seen_at[name] = time.monotonic()
            for one in found:
                if one.metric == f"up@{name}":
                    seen = None if one.value is None else one.value > 0
                    self._opinions[name] = after_look(self._opinions[name], seen, pace)
