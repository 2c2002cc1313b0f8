"""The failure log: every failure with its class, its signature and what ended it, in the state's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.core.failures import Failure, FailureClass

BUSY_TIMEOUT_S = 10.0
MOST_KEPT = 10_000

_SCHEMA = """
    create table if not exists failures (
        id integer primary key autoincrement,
        run text not null,
        task text not null,
        attempt integer not null,
        at real not null,
        class text not null,
        severity text not null,
        signature text not null,
        summary text not null,
        subject text not null,
        check_name text not null,
        ended_at real,
        mended_by text,
        unique (run, task, attempt)
    );
    create index if not exists failures_by_signature on failures (class, signature);
"""

# An attempt that is judged again keeps its place, and its first moment.
_KEEP = """
    insert into failures (run, task, attempt, at, class, severity, signature, summary, subject, check_name)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, task, attempt) do update set
        class = excluded.class, severity = excluded.severity, signature = excluded.signature,
        summary = excluded.summary, subject = excluded.subject, check_name = excluded.check_name
"""
_BOUND = "delete from failures where id <= (select id from failures order by id desc limit 1 offset ?)"
_ENDED = "update failures set ended_at = ?, mended_by = ? where run = ? and task = ? and ended_at is null"
_KNOWN = "select 1 from sqlite_master where type = 'table' and name = 'failures'"
_STATS = """
    select class, signature, count(*), max(at), summary
    from failures group by class, signature order by count(*) desc, max(at) desc
"""
_MENDED = """
    select class, signature, mended_by, count(*)
    from failures where mended_by is not null and mended_by <> ''
    group by class, signature, mended_by order by count(*) desc, mended_by
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStats:
    """How often an error was seen, when last, an example of it, and what mended it how often."""

    kind: FailureClass
    signature: str
    count: int
    last_seen: float
    example: str
    mended_by: tuple[tuple[str, int], ...] = ()


class FailureLog:
    """Keeps failures in a SQLite file that others keep tables in, too; the newest MOST_KEPT stay.

    Each call has a connection of its own, so any thread may call. What is kept twice is kept once.
    Nothing is made on disk before something is kept.
    """

    def __init__(self, path: Path, *, most: int = MOST_KEPT) -> None:
        self._path = path
        self._most = most

    def keep(self, run: str, task: str, attempt: int, failure: Failure, at: float) -> None:
        """Note what went wrong with an attempt; `at` is in seconds since 1970. On disk when this returns."""
        row = (run, task, attempt, at, failure.kind.value, failure.severity, failure.signature)
        told = (failure.summary, failure.subject, failure.check)
        with self._connection() as connection:
            connection.execute("pragma journal_mode = wal")
            connection.executescript(_SCHEMA)
            with connection:
                connection.execute(_KEEP, (*row, *told))
                connection.execute(_BOUND, (self._most,))

    def ended(self, run: str, task: str, mended_by: str, at: float) -> None:
        """Note what ended the failures of a task: who or what mended them, empty when nothing did."""
        with self._connection() as connection, connection:
            if connection.execute(_KNOWN).fetchone():
                connection.execute(_ENDED, (at, mended_by, run, task))

    def stats(self) -> tuple[FailureStats, ...]:
        """What fails here, the most frequent first, and what mended it."""
        if not self._path.exists():
            return ()
        with self._connection() as connection:
            if not connection.execute(_KNOWN).fetchone():
                return ()
            seen = connection.execute(_STATS).fetchall()
            mended: dict[tuple[str, str], list[tuple[str, int]]] = {}
            for kind, signature, by, times in connection.execute(_MENDED):
                mended.setdefault((kind, signature), []).append((by, times))
        return tuple(
            FailureStats(
                kind=FailureClass(kind),
                signature=signature,
                count=count,
                last_seen=last_seen,
                example=example,
                mended_by=tuple(mended.get((kind, signature), ())),
            )
            for kind, signature, count, last_seen, example in seen
        )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S)) as connection:
                connection.execute("pragma synchronous = full")
                yield connection
        except sqlite3.Error as problem:
            raise StateUnwritable(
                f"the failure log in {str(self._path)!r} cannot be used: {problem}",
                "see that the folder is writable and the disk not full, then: milepost resume",
            ) from problem
