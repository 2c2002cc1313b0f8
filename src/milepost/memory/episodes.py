"""Episodes kept: in memory for a process, in SQLite for good."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.core.memories import Episode, Lessons
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.memory.recall import folded, lessons_from

BUSY_TIMEOUT_S = 10.0

_SCHEMA = """
    create table if not exists episodes (
        run text not null,
        task text not null,
        attempt integer not null,
        title text not null,
        folded_title text not null,
        agent text not null,
        verdict text not null,
        reason text not null,
        duration_ms integer not null,
        cost_usd real not null,
        primary key (run, task, attempt)
    );
    create index if not exists episodes_by_title on episodes (folded_title);
"""

_RECORD = """
    insert or ignore into episodes
        (run, task, attempt, title, folded_title, agent, verdict, reason, duration_ms, cost_usd)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_RECALL = """
    select run, task, title, attempt, agent, verdict, reason, duration_ms, cost_usd
    from episodes where folded_title = ? order by rowid
"""


class InMemory:
    """Remembers as long as the process lives. `run` is the run that is on: its own episodes are not recalled."""

    def __init__(self, run: str = "") -> None:
        self._run = run
        self._episodes: dict[tuple[str, str, int], Episode] = {}
        self._lock = threading.Lock()

    def recall(self, task: Task) -> Lessons:
        with self._lock:
            episodes = list(self._episodes.values())
        alike = (episode for episode in episodes if folded(episode.title) == folded(task.title))
        return lessons_from(alike, run=self._run)

    def record(self, episode: Episode) -> None:
        """An attempt is remembered once, as it was first told."""
        with self._lock:
            self._episodes.setdefault((episode.run, episode.task, episode.attempt), episode)


class SqliteMemory:
    """Remembers in a SQLite file. `run` is the run that is on: its own episodes are not recalled.

    Each call has a connection of its own, so any thread may call.
    """

    def __init__(self, path: Path, run: str = "") -> None:
        self._path = path
        self._run = run
        with self._connection() as connection:
            connection.execute("pragma journal_mode = wal")
            connection.executescript(_SCHEMA)

    def recall(self, task: Task) -> Lessons:
        with self._connection() as connection:
            rows = connection.execute(_RECALL, (folded(task.title),)).fetchall()
        return lessons_from(map(_episode, rows), run=self._run)

    def record(self, episode: Episode) -> None:
        """On disk when this returns. An attempt is remembered once, as it was first told."""
        with self._connection() as connection, connection:
            connection.execute(_RECORD, _row(episode))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S)) as connection:
                connection.execute("pragma synchronous = full")
                yield connection
        except sqlite3.Error as problem:
            raise StateUnwritable(
                f"the memory {str(self._path)!r} cannot be used: {problem}",
                "see that the folder is writable and the disk not full; a damaged file may be deleted",
            ) from problem


def _row(episode: Episode) -> tuple[str | int | float, ...]:
    return (
        episode.run,
        episode.task,
        episode.attempt,
        episode.title,
        folded(episode.title),
        episode.agent,
        episode.verdict.value,
        episode.reason,
        episode.duration_ms,
        episode.cost_usd,
    )


def _episode(row: tuple[str, str, str, int, str, str, str, int, float]) -> Episode:
    run, task, title, attempt, agent, verdict, reason, duration_ms, cost_usd = row
    return Episode(
        run=run,
        task=task,
        title=title,
        attempt=attempt,
        agent=agent,
        verdict=Verdict(verdict),
        reason=reason,
        duration_ms=duration_ms,
        cost_usd=cost_usd,
    )
