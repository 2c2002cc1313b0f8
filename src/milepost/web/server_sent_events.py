"""What a page is told of a run: server-sent events in batches, each with its place, so that none is lost or doubled."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import milepost
from milepost import events
from milepost.serving.threads import aside
from milepost.web.page_facts import PageFacts, glance_json
from milepost.web.poll import Sight, Tail

LINES: Final = 5_000
BATCH_BYTES: Final = 200_000
SIGN_OF_LIFE_S: Final = 15.0
RETRY_MS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPosition:
    """Where a page is: the epoch that it was told, and the last event that it has."""

    epoch: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStart:
    """What a page is told first, the rows to begin with, and where it is then."""

    hello: dict[str, Any]
    rows: tuple[events.Row, ...]
    seen: Sight
    place: StreamPosition


def place_named(text: str) -> StreamPosition:
    """The place that a page says it is at; one that makes no sense is nowhere."""
    epoch, _, seq = text.rpartition(":")
    known = seq.isascii() and seq.isdecimal() and len(seq) < 19
    return StreamPosition(epoch=epoch, seq=int(seq)) if known else StreamPosition(epoch="", seq=0)


async def told(site: PageFacts, tail: Tail, run: str, since: StreamPosition) -> AsyncIterator[str]:
    """All that a page is told, until it goes, the journal is another one or away; an empty run is yet to come."""
    with suppress(milepost.MilepostError), tail.watching(run):  # the browser asks again
        start = await _start(site, tail, run, since)
        place, seen = start.place, start.seen
        if seen.newest and not run:
            yield f"retry: {RETRY_MS}\n\n"
            return  # the first run began in between: the browser asks again, and is told that one
        yield f"retry: {RETRY_MS}\n{named('hello', start.hello)}"
        for batch in batches(start.rows):
            yield message(place, batch, caught_up=batch[-1].seq >= seen.last)
            place = StreamPosition(epoch=place.epoch, seq=batch[-1].seq)
        del start  # a page may stay for days, and what it began with is large
        while True:
            while place.seq < seen.last and (rows := await tail.rows(run, place.seq)):
                yield message(place, rows, caught_up=rows[-1].seq >= seen.last)
                place = StreamPosition(epoch=place.epoch, seq=rows[-1].seq)
            now = await tail.change(run, seen, SIGN_OF_LIFE_S)
            if now.epoch != seen.epoch:
                return  # the browser asks again, and is told the other journal from its beginning
            for line in changes(seen, now, time.time()):
                yield line
            seen = now


def message(place: StreamPosition, rows: tuple[events.Row, ...], *, caught_up: bool) -> str:
    """Rows as one event; it says what comes before them, so that a gap is noticed."""
    body = f'{{"after":{place.seq},"caught_up":{json.dumps(caught_up)},"events":{rows_json(rows)}}}'
    return f"id: {place.epoch}:{rows[-1].seq}\ndata: {body}\n\n"


def rows_json(rows: Iterable[events.Row]) -> str:
    """Rows as the page reads them; the body of each is JSON already, on one line."""
    return f"[{','.join(f'[{row.seq},{row.at!r},{row.body}]' for row in rows)}]"


def batches(rows: tuple[events.Row, ...]) -> Iterator[tuple[events.Row, ...]]:
    """Rows in pieces that a page takes in without a stop; a row that is larger comes alone."""
    piece: list[events.Row] = []
    size = 0
    for row in rows:
        if piece and size + len(row.body) > BATCH_BYTES:
            yield tuple(piece)
            piece, size = [], 0
        piece.append(row)
        size += len(row.body)
    if piece:
        yield tuple(piece)


def changes(seen: Sight, now: Sight, clock: float) -> list[str]:
    """What is told beside rows: that a process began or ceased to be at the run, a newer run, or that we are here."""
    lines = []
    if now.alive != seen.alive:
        lines.append(named("alive", {"alive": now.alive, "now": clock}))
    if now.newest != seen.newest:
        lines.append(named("newer", {"run": now.newest}))
    return lines if now != seen else [": still here\n\n"]


def named(event: str, body: dict[str, Any]) -> str:
    """An event of another kind than rows."""
    return f"event: {event}\ndata: {json.dumps(body)}\n\n"


async def _start(site: PageFacts, tail: Tail, run: str, since: StreamPosition) -> StreamStart:
    """A page that was told this run of this journal goes on where it was; every other one starts over."""
    seen = await tail.sight(run)
    epoch = f"{seen.epoch}.{run}"
    goes_on = since.epoch == epoch and 0 < since.seq <= seen.last
    opening = None if goes_on or not run else await aside(partial(site.stream.opening, run, LINES))
    glances = await aside(site.stream.runs)
    hello = {
        "epoch": epoch,
        "run": run or None,
        "fresh": not goes_on,
        "now": time.time(),
        "alive": seen.alive,
        "floor": opening.floor if opening else 0,
        "older": opening.floor > 0 if opening else goes_on,
        "facts": next((glance_json(glance) for glance in glances if glance.run == run), None),
        "preview": site.preview or None,
        "app": site.app.address() if site.app else None,
        "roadmap": site.roadmap.name,
        "folder": str(site.roadmap.parent),
        "version": milepost.__version__,
    }
    place = StreamPosition(epoch=epoch, seq=since.seq if goes_on else 0)
    return StreamStart(hello=hello, rows=opening.rows if opening else (), seen=seen, place=place)
