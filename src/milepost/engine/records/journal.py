"""The journal: runs, their events and their attempts, append-only, in the state's database.

What is written twice under one key is kept once, so a step that runs again after a crash says
nothing new.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from milepost.core.attempt import Attempt
from milepost.core.errors import StateUnwritable
from milepost.core.events import Event, EventsTakenBack, RunFinished
from milepost.core.plain_names import plain_name
from milepost.store.database import Database, is_server, open_database
from milepost.store.dialect import short

SCHEMA = """
create table if not exists runs (
    {rowid} run text primary key, version text not null, order_json text not null,
    started_at double precision not null, finished_at double precision, summary_json text,
    left_at double precision);
create table if not exists events (
    seq {serial}, run text not null, key text not null, at double precision not null,
    body text not null, unique (run, key));
create index if not exists events_in_order on events (run, seq);
create index if not exists events_told on events (run, seq) where substr(key, 1, 8) <> 'printed/';
create index if not exists events_printed on events (run, seq) where substr(key, 1, 8) = 'printed/';
create table if not exists attempts (
    run text not null, task text not null, number bigint not null, at double precision not null,
    body text not null, primary key (run, task, number));
create table if not exists answers (
    tree text not null, question text not null, body text not null, primary key (tree, question));
"""
FOLLOW_PAUSE_S = 0.2
_LOG_ID = re.compile(r'"log_id":\s*"(\w+)"')
LAST = "finished"  # the key of a run's last event
PRINTED = "printed/"  # how the keys of what commands print begin
# In the words of the indexes above, or they are of no use.
TOLD_ROWS, PRINTED_ROWS = "substr(key, 1, 8) <> 'printed/'", "substr(key, 1, 8) = 'printed/'"

_KEEP = """
insert into attempts (run, task, number, at, body) values (?, ?, ?, ?, ?)
    on conflict (run, task, number) do update set at = excluded.at, body = excluded.body
"""
_APPEND = "insert into events (run, key, at, body) values (?, ?, ?, ?) on conflict (run, key) do nothing"
_OPEN = "insert into runs (run, version, order_json, started_at) values (?, ?, ?, ?) on conflict (run) do nothing"
_OPENED = "select 1 from runs where run = ? and version = ? and order_json = ? and started_at = ?"
# The answer to an append may have been lost with the server: then the row is there, and it is this one.
_MINE = "select 1 from events where run = ? and key = ? and at = ? and body = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as the journal knows it; `left_at` is set when it was given up for a new one."""

    run: str
    version: str
    order: dict[str, Any]
    started_at: float
    finished_at: float | None
    summary: RunFinished | None
    left_at: float | None

    @property
    def unfinished(self) -> bool:
        return self.finished_at is None and self.left_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event, its place in the stream and when it was written down."""

    seq: int
    at: float
    event: Event


class Journal:
    """Reads and writes the journal, in a database of others or in one of its own; any thread may call."""

    def __init__(self, store: Database | Path | str) -> None:
        self._own = open_database(store) if isinstance(store, Path | str) else None
        self._db: Database = self._own or store  # type: ignore[assignment]
        try:
            self._db.script(SCHEMA)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def look(place: Path | str) -> Journal:
        """The journal for reading; an empty one where none was written yet, and none is made."""
        return Journal(place if is_server(place) or Path(place).exists() else ":memory:")

    @property
    def database(self) -> Database:
        """Where it is written, and others beside it."""
        return self._db

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, when it is the journal's own."""
        if self._own is not None:
            self._own.close()

    def open_run(self, run: str, version: str, order: dict[str, Any]) -> None:
        """Write down what a run was asked to do; two runs never have one id."""
        row = (run, version, json.dumps(order), time.time())
        if not self._db.write(_OPEN, *row) and not self._db.read(_OPENED, *row):
            raise StateUnwritable(f"run {run} already exists", "start again: a new run gets another id")

    def close_run(self, run: str, summary: RunFinished) -> None:
        sql = "update runs set finished_at = coalesce(finished_at, ?), summary_json = ? where run = ?"
        self._db.write(sql, time.time(), _dump(summary), run)

    def leave_run(self, run: str) -> None:
        self._db.write("update runs set left_at = ? where run = ?", time.time(), run)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        sql = "select run, version, order_json, started_at, finished_at, summary_json, left_at from runs"
        return tuple(
            RunRecord(
                run=plain_name(run, "a run"),
                version=version,
                order=json.loads(order),
                started_at=started,
                finished_at=finished,
                summary=_load_event(summary) if summary else None,  # type: ignore[arg-type]
                left_at=left,
            )
            for run, version, order, started, finished, summary, left in self._db.read(f"{sql} order by rowid desc")
        )

    def append(self, event: Event, key: str) -> bool:
        """Write an event down; False when this key was written before."""
        row = (event.run, short(key), time.time(), _dump(event))

        def add() -> bool:
            return self._db.write(_APPEND, *row) == 1 or bool(self._db.read(_MINE, *row))

        return self._db.together(_turn(event.run), add)

    def replace(self, event: Event, key: str) -> None:
        """Write an event down in the place of one that was written under this key before; it is the newest then."""
        row = (event.run, short(key), time.time(), _dump(event))

        def put() -> None:
            task, attempt = getattr(event, "task", ""), getattr(event, "attempt", 0)
            self._take_back(EventsTakenBack(run=event.run, task=task, attempt=attempt, seqs=()), "key = ?", short(key))
            self._db.write(_APPEND, *row)

        self._db.together(_turn(event.run), put)

    def drop_events(self, run: str, keys: str, *, task: str = "", attempt: int = 0) -> None:
        """Take back the events whose keys begin so: a step that was cut short does them again."""
        gone = EventsTakenBack(run=run, task=task, attempt=attempt, seqs=())

        def drop() -> None:
            self._take_back(gone, "substr(key, 1, ?) = ?", len(keys), keys)

        self._db.together(_turn(run), drop)

    def _take_back(self, gone: EventsTakenBack, which: str, *values: object) -> None:
        """Delete events, and tell the places of those that were there to whoever saw them."""
        which = f"from events where run = ? and {which}"
        rows = self._db.read(f"select seq {which} order by seq", gone.run, *values)
        if rows:
            seqs = tuple(seq for (seq,) in rows)
            self._db.write(f"delete {which}", gone.run, *values)
            told = replace(gone, seqs=seqs)
            self._db.write(_APPEND, gone.run, f"taken back/{seqs[0]}", time.time(), _dump(told))

    def events(self, run: str, after: int = 0, *, printed: bool = False) -> tuple[Entry, ...]:
        """The events of a run that come after a place in the stream, with `printed` also what its commands printed.

        Those that only a newer version knows are left out.
        """
        which = "" if printed else f" and {TOLD_ROWS}"
        sql = f"select seq, at, body from events where run = ? and seq > ?{which} order by seq"  # noqa: S608
        found = ((seq, at, _load_event(body)) for seq, at, body in self._db.read(sql, run, after))
        return tuple(Entry(seq=seq, at=at, event=event) for seq, at, event in found if event is not None)

    def events_of(self, run: str, task: str = "") -> tuple[Entry, ...]:
        """The events of a run that are about one task, or all of them, without what commands printed."""
        # What has to be escaped in JSON or in a pattern may be any sign here: the events themselves decide below.
        likely = re.sub(r"[\\%]", "_", f'"task": {json.dumps(task)}') if task else ""
        which = f"run = ? and {TOLD_ROWS} and lower(body) like lower(?)"
        sql = f"select seq, at, body from events where {which} order by seq"  # noqa: S608
        found = ((seq, at, _load_event(body)) for seq, at, body in self._db.read(sql, run, f"%{likely}%"))
        return tuple(
            Entry(seq=seq, at=at, event=event)
            for seq, at, event in found
            if event is not None and (not task or getattr(event, "task", "").lower() == task.lower())
        )

    def last_at(self, run: str) -> float | None:
        """When the newest event of a run was written down; None without any."""
        rows = self._db.read("select at from events where run = ? order by seq desc limit 1", run)
        return rows[0][0] if rows else None

    def follow(
        self, run: str, after: int = 0, stopped: threading.Event | None = None, *, printed: bool = False
    ) -> Iterator[Entry]:
        """The events of a run as they are written, until it has ended or whoever follows has `stopped`."""
        stopped = stopped or threading.Event()
        while not stopped.is_set():
            over = self._is_over(run)  # asked first: what was written before its end is read below
            for entry in self.events(run, after, printed=printed):
                after = entry.seq
                yield entry
            if over:
                return
            stopped.wait(FOLLOW_PAUSE_S)

    def _is_over(self, run: str) -> bool:
        ended = "select 1 from events where run = ? and key = ?"
        left = "select 1 from runs where run = ? and left_at is not null"
        return bool(self._db.read(ended, run, LAST) or self._db.read(left, run))

    def keep_attempt(self, run: str, task: str, attempt: Attempt) -> None:
        self._db.write(_KEEP, run, task, attempt.number, time.time(), _attempts().dump_json(attempt).decode())

    def attempts(self, run: str, task: str) -> tuple[Attempt, ...]:
        sql = "select body from attempts where run = ? and lower(task) = lower(?) order by number"
        rows = self._db.read(sql, run, task)
        return tuple(_attempts().validate_json(body) for (body,) in rows)

    def keep_answer(self, tree: str, question: str, answer: Any) -> None:
        """Keep how a question about a tree was answered; the first answer stays."""
        sql = "insert into answers (tree, question, body) values (?, ?, ?) on conflict do nothing"
        self._db.write(sql, tree, short(question), json.dumps(answer))

    def answer(self, tree: str, question: str) -> Any:
        """The answer to a question about a tree, None where it was not asked yet."""
        rows = self._db.read("select body from answers where tree = ? and question = ?", tree, short(question))
        return json.loads(rows[0][0]) if rows else None

    def forget_answers(self, tree: str) -> None:
        """Forget all that was answered about a tree."""
        self._db.write("delete from answers where tree = ?", tree)

    def log_ids(self, runs: Iterable[str]) -> frozenset[str]:
        """The names of the logs behind the attempts of some runs."""
        bodies = (body for run in runs for (body,) in self._db.read("select body from attempts where run = ?", run))
        return frozenset(name for body in bodies for name in _LOG_ID.findall(body))

    def last_run_of(self, task: str) -> str | None:
        """The newest run that tried a task."""
        rows = self._db.read("select run from attempts where lower(task) = lower(?) order by at desc limit 1", task)
        return rows[0][0] if rows else None


@cache
def _events() -> Any:
    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Event, Field(discriminator="event")])


@cache
def _attempts() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Attempt)


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as the command line prints it."""
    dumped: dict[str, Any] = _events().dump_python(event, mode="json")
    return {"event": dumped.pop("event"), **dumped}


def _dump(event: Event) -> str:
    return json.dumps(event_to_json(event))


def _load_event(body: str) -> Event | None:
    """An event as it was written; None for one of a kind that this version does not know."""
    from pydantic import ValidationError

    try:
        event: Event = _events().validate_json(body)
    except ValidationError:
        return None
    return event


def _turn(run: str) -> str:
    """Who appends to a run's events does so in turn: on a server, a later place might be seen before an earlier one."""
    return f"events of {run}"
