"""Episodes kept: in memory for a process, in the state's database for good."""

from __future__ import annotations

import threading

from milepost.core.memories import Episode, Lessons
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.memory.recall import folded, lessons_from
from milepost.store.database import Database, Row
from milepost.store.dialect import short

_SCHEMA = """
    create table if not exists episodes (
        {rowid}
        run text not null,
        task text not null,
        attempt bigint not null,
        title text not null,
        folded_title text not null,
        agent text not null,
        verdict text not null,
        reason text not null,
        duration_ms bigint not null,
        cost_usd double precision not null,
        primary key (run, task, attempt)
    );
    create index if not exists episodes_by_title on episodes (folded_title);
"""

_RECORD = """
    insert into episodes
        (run, task, attempt, title, folded_title, agent, verdict, reason, duration_ms, cost_usd)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, task, attempt) do nothing
"""

_RECALL = """
    select run, task, title, attempt, agent, verdict, reason, duration_ms, cost_usd
    from episodes where folded_title = ? order by rowid
"""

_NEWEST = """
    select run, task, title, attempt, agent, verdict, reason, duration_ms, cost_usd
    from episodes order by rowid desc limit ?
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


class StoredMemory:
    """Remembers in a database. `run` is the run that is on: its own episodes are not recalled."""

    def __init__(self, database: Database, run: str = "") -> None:
        self._db = database
        self._run = run
        database.script(_SCHEMA)

    def recall(self, task: Task) -> Lessons:
        rows = self._db.read(_RECALL, short(folded(task.title)))
        return lessons_from(map(_episode, rows), run=self._run)

    def record(self, episode: Episode) -> None:
        """There for the next process when this returns. An attempt is remembered once, as it was first told."""
        self._db.write(_RECORD, *_row(episode))

    def newest(self, most: int) -> tuple[Episode, ...]:
        """The newest episodes, oldest first."""
        return tuple(reversed([_episode(row) for row in self._db.read(_NEWEST, most)]))


def _row(episode: Episode) -> tuple[str | int | float, ...]:
    return (
        episode.run,
        episode.task,
        episode.attempt,
        episode.title,
        short(folded(episode.title)),
        episode.agent,
        episode.verdict.value,
        episode.reason,
        episode.duration_ms,
        episode.cost_usd,
    )


def _episode(row: Row) -> Episode:
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
