"""The stream of events for who stays and reads on: rows as they were written, of all runs. Changes nothing.

The database need not be there yet, and may be removed and made anew: another `epoch` tells that it was.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from milepost.core.errors import StateUnwritable
from milepost.engine.project.project import Project
from milepost.engine.project.state_lock import holder_of
from milepost.engine.records.journal import PRINTED_ROWS, TOLD_ROWS
from milepost.engine.records.locate import server_named
from milepost.store.database import Database, is_server, open_database
from milepost.store.rows import Row as Values

NOTHING = "nothing"  # the epoch of a database in which nothing was run
PAGE = 50  # rows that are read at once: one may have 32 kB
AWAY_S = 3.0  # who waits for a server reads again later, and may be asked to end at any time
MOST_BYTES = 4_000_000  # of output that is given at once, however few lines that are

_HELD = """
select distinct offers.run from offers join workers on workers.id = offers.worker
    where workers.gone = '' and extract(epoch from clock_timestamp()) - workers.beat_at < workers.lease_s
"""


class Row(NamedTuple):
    """An event's place in the stream, when it was written down, and its JSON as it was written."""

    seq: int
    at: float
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGlance:
    """A run in a few facts: what it was asked to do, by whom, held how.

    It `ended` when nothing more comes of it: it was finished, or left for another.
    """

    run: str
    started_at: float
    finished_at: float | None
    left_at: float | None
    ended: bool
    agent: str
    trust: str
    parallel: int
    budget_usd: float | None
    approve: str
    base: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What to begin with: all rows of a run but the older ones of what commands printed.

    `floor` is the place below which such were left out, 0 when none were.
    """

    rows: tuple[Row, ...]
    floor: int

    @property
    def last(self) -> int:
        """The place to read on from, 0 where there is nothing yet."""
        return self.rows[-1].seq if self.rows else 0


def open_stream(roadmap: Path | None, server: str | None = None) -> EventStream:
    """The stream of a project's database, or of the server that its runs are submitted to."""
    project = Project.find(roadmap)
    return EventStream(server_named(project, server) or project.database)


class EventStream:
    """Reads the events of all runs in one database, until it is closed; threads may share it."""

    def __init__(self, place: Path | str) -> None:
        self._place = place
        self._lock = threading.RLock()
        self._closed = False
        self._database: Database | None = None
        self._identity: object = None
        self._begun: Database | None = None  # one that has its tables
        self._facts: dict[tuple[str, float], dict[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; whoever waits for a server that is away is told, later use is refused."""
        self._closed = True
        if (database := self._database) is not None:
            database.close()
        with self._lock:
            self._let_go()

    @property
    def epoch(self) -> str:
        """What names this database: another one after the state was removed, or when the first run begins."""
        rows = self._read("select run, started_at from runs order by rowid limit 1")
        return hashlib.sha256(repr(rows[0]).encode()).hexdigest()[:12] if rows else NOTHING

    def runs(self) -> tuple[RunGlance, ...]:
        """All runs, newest first; none where nothing was run yet."""
        rows = self._read("select run, started_at, finished_at, left_at from runs order by rowid desc")
        return tuple(
            RunGlance(
                run=run,
                started_at=began,
                finished_at=finished,
                left_at=left,
                ended=finished is not None or left is not None,
                **self._facts_of(run, began),
            )
            for run, began, finished, left in rows
        )

    def at_work(self) -> frozenset[str]:
        """The runs that a process is at now: the engine of this state directory, or workers that are heard of."""
        if is_server(self._place):
            return frozenset(run for (run,) in self._read(_HELD)) if self._has_workers() else frozenset()
        holder = holder_of(Path(self._place).parent)
        return frozenset({holder.run}) if holder is not None and holder.run else frozenset()

    def last(self, run: str) -> int:
        """The place of the newest event of a run, 0 without any."""
        rows = self._read("select max(seq) from events where run = ?", run)
        return (rows[0][0] or 0) if rows else 0

    def after(self, run: str, seq: int, *, most: int = 500, most_bytes: int = 200_000) -> tuple[Row, ...]:
        """The next rows of a run after a place, in order; one at least where there are any, however long it is."""
        sql = "select seq, at, body from events where run = ? and seq > ? order by seq limit ?"
        found: list[Row] = []
        size = 0
        while len(found) < most:
            page = self._read(sql, run, found[-1].seq if found else seq, min(PAGE, most - len(found)))
            for row in map(Row._make, page):
                size += len(row.body)
                if found and size > most_bytes:
                    return tuple(found)
                found.append(row)
            if not page:
                break
        return tuple(found)

    def opening(self, run: str, lines: int = 5000) -> Opening:
        """All rows of a run as it is now, with the last lines that its commands printed."""
        last = self.last(run)
        sql = f"select seq, at, body from events where run = ? and seq <= ? and {TOLD_ROWS} order by seq"  # noqa: S608
        told = map(Row._make, self._read(sql, run, last))
        printed = self.printed_before(run, last + 1, lines)
        older = f"select 1 from events where run = ? and seq < ? and {PRINTED_ROWS} limit 1"  # noqa: S608
        floor = printed[0].seq if printed and self._read(older, run, printed[0].seq) else 0
        return Opening(rows=tuple(sorted((*told, *printed), key=lambda row: row.seq)), floor=floor)

    def printed_before(self, run: str, seq: int, lines: int = 5000) -> tuple[Row, ...]:
        """The rows of what commands printed before a place, in order: the newest, until they have so many lines."""
        sql = f"select seq, at, body from events where run = ? and seq < ? and {PRINTED_ROWS}"  # noqa: S608
        found: list[Row] = []
        size = 0
        while lines > 0 and size < MOST_BYTES:
            page = self._read(f"{sql} order by seq desc limit ?", run, found[-1].seq if found else seq, PAGE)
            for row in map(Row._make, page):
                if lines <= 0 or size >= MOST_BYTES:
                    break
                found.append(row)
                size += len(row.body)
                lines -= len(json.loads(row.body)["lines"])
            if not page:
                break
        return tuple(reversed(found))

    def _facts_of(self, run: str, began: float) -> dict[str, Any]:
        """What a run was asked to do, which is read once."""
        facts = self._facts.get((run, began))
        if facts is None:
            rows = self._read("select order_json from runs where run = ?", run)
            facts = self._facts[run, began] = _facts(json.loads(rows[0][0]) if rows else {})
        return facts

    def _has_workers(self) -> bool:
        database = self._opened()
        return database is not None and all(map(database.columns, ("offers", "workers")))

    def _read(self, sql: str, *values: object) -> list[Values]:
        """Rows of the database as it is now; none where there is none. Who waits for a server holds nobody up."""
        while True:
            database = self._opened()
            try:
                return [] if database is None or not self._has_begun(database) else database.read(sql, *values)
            except StateUnwritable:
                if database is self._database:
                    raise
                # Another one came to its place, and it was closed meanwhile.

    def _opened(self) -> Database | None:
        """The database that is there now; a file may be another one than before."""
        with self._lock:
            if self._closed:
                raise StateUnwritable("the event stream was closed", "open it again")
            identity = _identity(self._place)
            if identity != self._identity:
                self._let_go()
            if identity is None:
                return None
            if self._database is None:
                self._database, self._identity = open_database(self._place, away_s=AWAY_S), identity
            return self._database

    def _has_begun(self, database: Database) -> bool:
        if self._begun is not database and all(map(database.columns, ("runs", "events"))):
            self._begun = database
        return self._begun is database

    def _let_go(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database, self._identity, self._begun = None, None, None
        self._facts.clear()


def _identity(place: Path | str) -> object:
    """What tells a database from one that comes to its place later; None where there is none."""
    if is_server(place):
        return place
    try:
        facts = Path(place).stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _facts(order: dict[str, Any]) -> dict[str, Any]:
    """The facts of an order that are worth a glance; one of another version may lack some."""
    sandbox = order.get("sandbox") or {}
    return {
        "agent": str(order.get("agent", "")),
        "trust": str(order.get("trust") or sandbox.get("container", "")),
        "parallel": int(order.get("parallel", 1)),
        "budget_usd": (order.get("budget") or {}).get("usd"),
        "approve": str(order.get("approve", "never")),
        "base": str(order.get("base", "")),
        "tasks": tuple(map(str, order.get("tasks", ()))),
    }
