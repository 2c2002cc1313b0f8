"""One look at the stream for all pages: how the runs that somebody watches stand, and their newest rows.

All reading is done in threads of its own, so that a slow database holds nobody up but those who wait for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import milepost
from milepost import events
from milepost.serving.threads import aside

AT_WORK_S: Final = 0.05
AT_REST_S: Final = 0.25
AROUND_S: Final = 0.5
AWAY_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What changes seldom: which journal this is, its newest run, and the runs that a process is at."""

    epoch: str
    newest: str
    at_work: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """How a run stands: its journal, its last place there, whether a process is at it; and which run is the newest."""

    epoch: str
    newest: str
    last: int
    alive: bool


class Tail:
    """Looks only while somebody watches, and then once for all of them; an empty run is the first one, yet to come."""

    def __init__(self, stream: events.EventStream) -> None:
        self._stream = stream
        self._watched: Counter[str] = Counter()
        self._seen: dict[str, Sight] = {}
        self._around: Around | None = None
        self._looked_around = 0.0
        self._turn = asyncio.Lock()  # what was seen earlier never takes the place of what was seen later
        self._changed = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._reading: dict[tuple[str, int], asyncio.Task[tuple[events.Row, ...]]] = {}

    @contextmanager
    def watching(self, run: str) -> Iterator[None]:
        """Have a run looked at meanwhile."""
        self._watched[run] += 1
        try:
            yield
        finally:
            self._watched[run] -= 1

    async def sight(self, run: str) -> Sight:
        """How a run stands now."""
        return (await self._look([run], anew=True))[run]

    async def change(self, run: str, seen: Sight, within_s: float) -> Sight:
        """How a run that is watched stands, once that is not as it was seen; the same when nothing changed in time."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            async with asyncio.timeout(within_s):
                while (now := self._seen.get(run, seen)) == seen:
                    await self._changed.wait()
        except TimeoutError:
            return seen
        return now

    async def rows(self, run: str, after: int) -> tuple[events.Row, ...]:
        """The next rows after a place; those who ask for the same at once are given the same."""
        key = (run, after)
        if key not in self._reading:
            reading = asyncio.create_task(aside(partial(self._stream.after, run, after)))
            reading.add_done_callback(lambda _: self._reading.pop(key, None))
            self._reading[key] = reading
        return await asyncio.shield(self._reading[key])

    async def _keep_looking(self) -> None:
        while runs := [run for run, watchers in self._watched.items() if watchers]:
            try:
                seen = await self._look(runs)
                pause_s = AT_WORK_S if any(sight.alive for sight in seen.values()) else AT_REST_S
            except milepost.MilepostError:  # the database is away: it is asked again
                pause_s = AWAY_S
            await asyncio.sleep(pause_s)

    async def _look(self, runs: list[str], *, anew: bool = False) -> dict[str, Sight]:
        """Look at runs, and at what is around them if that is long ago, and tell who waits for a change."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            known = None if anew or now - self._looked_around >= AROUND_S else self._around
            seen, self._around = await aside(partial(_looked, self._stream, runs, known))
            self._looked_around = self._looked_around if known else now
            if any(self._seen.get(run) != sight for run, sight in seen.items()):
                self._seen |= seen
                self._changed.set()
                self._changed = asyncio.Event()
            return seen


def _looked(stream: events.EventStream, runs: list[str], known: Around | None) -> tuple[dict[str, Sight], Around]:
    """How runs stand, and what is around them, which is looked at only where it is not known."""
    around = known or _around(stream)
    sights = {
        run: Sight(
            epoch=around.epoch,
            newest=around.newest,
            last=stream.last(run) if run else 0,
            alive=run in around.at_work,
        )
        for run in runs
    }
    return sights, around


def _around(stream: events.EventStream) -> Around:
    newest = next((glance.run for glance in stream.runs()), "")
    return Around(epoch=stream.epoch, newest=newest, at_work=stream.at_work())
