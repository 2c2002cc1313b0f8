"""The failure log: every failure with its class, its signature and what ended it, in the state's database."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.failures import Failure, FailureClass
from milepost.store.database import Database

MOST_KEPT = 10_000

_SCHEMA = """
    create table if not exists failures (
        id {serial},
        run text not null,
        task text not null,
        attempt bigint not null,
        at double precision not null,
        class text not null,
        severity text not null,
        signature text not null,
        summary text not null,
        subject text not null,
        check_name text not null,
        ended_at double precision,
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
_STATS = """
    select class, signature, count(*), max(at), (
        select summary from failures one
        where one.class = failures.class and one.signature = failures.signature order by at desc, id desc limit 1)
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
    """Keeps failures in a database that others keep tables in, too; the newest MOST_KEPT stay.

    What is kept twice is kept once.
    """

    def __init__(self, database: Database, *, most: int = MOST_KEPT) -> None:
        self._db = database
        self._most = most
        database.script(_SCHEMA)

    def keep(self, run: str, task: str, attempt: int, failure: Failure, at: float) -> None:
        """Note what went wrong with an attempt; `at` is in seconds since 1970."""
        row = (run, task, attempt, at, failure.kind.value, failure.severity, failure.signature)
        self._db.write(_KEEP, *row, failure.summary, failure.subject, failure.check)
        self._db.write(_BOUND, self._most)

    def ended(self, run: str, task: str, mended_by: str, at: float) -> None:
        """Note what ended the failures of a task: who or what mended them, empty when nothing did."""
        self._db.write(_ENDED, at, mended_by, run, task)

    def stats(self) -> tuple[FailureStats, ...]:
        """What fails here, the most frequent first, and what mended it."""
        mended: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for kind, signature, by, times in self._db.read(_MENDED):
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
            for kind, signature, count, last_seen, example in self._db.read(_STATS)
        )
