"""The journal: runs, their events and their attempts, append-only, in the state directory's database.

What is written twice under one key is kept once, so a step that runs again after a crash says
nothing new.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from milepost.core.attempt import Attempt
from milepost.core.errors import StateUnwritable
from milepost.core.events import Event, RunFinished

SCHEMA = """
create table if not exists runs (
    run text primary key, version text not null, order_json text not null,
    started_at real not null, finished_at real, summary_json text, left_at real);
create table if not exists events (
    seq integer primary key autoincrement, run text not null, key text not null, at real not null,
    body text not null, unique (run, key));
create table if not exists attempts (
    run text not null, task text not null, number integer not null, at real not null, body text not null,
    primary key (run, task, number));
create table if not exists answers (
    tree text not null, question text not null, body text not null, primary key (tree, question));
"""


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
    """An event and when it was written down."""

    at: float
    event: Event


class Journal:
    """Reads and writes the journal; may be used from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise _unwritable(path, error) from error
        try:
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
            self._db.executescript(SCHEMA)
        except sqlite3.Error as error:
            self._db.close()
            raise _unwritable(path, error) from error

    @staticmethod
    def look(path: Path) -> Journal:
        """The journal for reading; an empty one where none was written yet, and none is made."""
        return Journal(path if path.exists() else Path(":memory:"))

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def _write(self, sql: str, *values: object) -> int:
        try:
            with self._lock:
                return self._db.execute(sql, values).rowcount
        except sqlite3.Error as error:
            raise _unwritable(self._path, error) from error

    def _read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise _unwritable(self._path, error) from error

    def open_run(self, run: str, version: str, order: dict[str, Any]) -> None:
        sql = "insert into runs (run, version, order_json, started_at) values (?, ?, ?, ?)"
        self._write(sql, run, version, json.dumps(order), time.time())

    def close_run(self, run: str, summary: RunFinished) -> None:
        sql = "update runs set finished_at = coalesce(finished_at, ?), summary_json = ? where run = ?"
        self._write(sql, time.time(), _dump(summary), run)

    def leave_run(self, run: str) -> None:
        self._write("update runs set left_at = ? where run = ?", time.time(), run)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        sql = "select run, version, order_json, started_at, finished_at, summary_json, left_at from runs"
        return tuple(
            RunRecord(
                run=run,
                version=version,
                order=json.loads(order),
                started_at=started,
                finished_at=finished,
                summary=_load_event(summary) if summary else None,  # type: ignore[arg-type]
                left_at=left,
            )
            for run, version, order, started, finished, summary, left in self._read(f"{sql} order by rowid desc")
        )

    def append(self, event: Event, key: str) -> bool:
        """Write an event down; False when this key was written before."""
        sql = "insert or ignore into events (run, key, at, body) values (?, ?, ?, ?)"
        return self._write(sql, event.run, key, time.time(), _dump(event)) == 1

    def replace(self, event: Event, key: str) -> None:
        """Write an event down in the place of one that was written under this key before."""
        sql = "insert or replace into events (run, key, at, body) values (?, ?, ?, ?)"
        self._write(sql, event.run, key, time.time(), _dump(event))

    def drop_events(self, run: str, keys: str) -> None:
        """Take back the events whose keys begin so: a step that was cut short does them again."""
        self._write("delete from events where run = ? and substr(key, 1, ?) = ?", run, len(keys), keys)

    def events(self, run: str) -> tuple[Entry, ...]:
        rows = self._read("select at, body from events where run = ? order by seq", run)
        return tuple(Entry(at=at, event=_load_event(body)) for at, body in rows)

    def keep_attempt(self, run: str, task: str, attempt: Attempt) -> None:
        sql = "insert or replace into attempts (run, task, number, at, body) values (?, ?, ?, ?, ?)"
        self._write(sql, run, task, attempt.number, time.time(), _attempts().dump_json(attempt).decode())

    def attempts(self, run: str, task: str) -> tuple[Attempt, ...]:
        rows = self._read(
            "select body from attempts where run = ? and task = ? collate nocase order by number", run, task
        )
        return tuple(_attempts().validate_json(body) for (body,) in rows)

    def keep_answer(self, tree: str, question: str, answer: Any) -> None:
        """Keep how a question about a tree was answered; the first answer stays."""
        sql = "insert or ignore into answers (tree, question, body) values (?, ?, ?)"
        self._write(sql, tree, question, json.dumps(answer))

    def answer(self, tree: str, question: str) -> Any:
        """The answer to a question about a tree, None where it was not asked yet."""
        rows = self._read("select body from answers where tree = ? and question = ?", tree, question)
        return json.loads(rows[0][0]) if rows else None

    def last_run_of(self, task: str) -> str | None:
        """The newest run that tried a task."""
        rows = self._read("select run from attempts where task = ? collate nocase order by at desc limit 1", task)
        return rows[0][0] if rows else None


def _unwritable(path: Path, error: sqlite3.Error) -> StateUnwritable:
    if "not a database" in str(error) or "malformed" in str(error):
        advice = f"move {path.parent.name}/ away and go on: the mileposts and their proofs are in git"
        return StateUnwritable(f"{str(path)!r} is damaged: {error}", advice)
    return StateUnwritable(
        f"{str(path)!r} cannot be used: {error}", "make it writable or free some space, then: milepost resume"
    )


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


def _load_event(body: str) -> Event:
    event: Event = _events().validate_json(body)
    return event
