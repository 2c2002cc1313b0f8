"""How the memory of an earlier version becomes one of this: by numbered steps, each done once, whoever comes first.

Version 1 kept a line for each attempt in the table `episodes`. A memory that a newer version wrote is not touched.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from milepost.core.errors import VersionDiffers
from milepost.core.memories import UNJUDGED, Circumstances, EndKind, Episode, EpisodeEnd, EpisodeStart
from milepost.core.verdict import Verdict
from milepost.memory.store.schema import VERSION
from milepost.store.database import Database
from milepost.store.dialect import short

Record = Callable[[Episode], None]
Trials = dict[tuple[str, str, str], tuple[tuple[str, ...], bool]]

_OLD = "select run, task, attempt, title, agent, verdict, reason, duration_ms, cost_usd from episodes order by rowid"
_OWN = frozenset(
    {"run", "task", "attempt", "folded_title", "verdict"}
)  # a server may have a table of others' by this name
_ENDS: dict[str, EndKind] = {"passed": "success", "failed": "failure"}


def version_of(database: Database) -> int:
    """The version of the memory in a database; 0 where there is none."""
    if database.columns("memory_versions"):
        ((found,),) = database.read("select max(version) from memory_versions")
        if found is not None:
            return int(found)
    return 1 if database.columns("episodes") >= _OWN else 0


def require_known(database: Database) -> None:
    """Refuse a memory that a newer version wrote, before anything of it is read."""
    if (found := version_of(database)) > VERSION:
        raise VersionDiffers(
            f"this memory has version {found}, but this program supports versions up to {VERSION}",
            "use a newer milepost for this project",
        )


def migrate(database: Database, record: Record, project: str) -> None:
    """Bring a memory to this version. Attempts of version 1 become episodes of a project; without one they wait.

    `record` keeps an episode. Several may come at once, on any machine: one does it, and nobody twice.
    """
    if version_of(database) == VERSION:
        return

    def act() -> None:
        found = version_of(database)
        if found == 1 and not project:
            return
        for version in range(found, VERSION):
            if (step := MIGRATIONS.get(version)) is not None and found:
                step(database, record, project)
        done = "insert into memory_versions (version, at) values (?, ?) on conflict do nothing"
        database.write(done, VERSION, time.time())

    database.together("memory", act, durable=True)


def _from_1(database: Database, record: Record, project: str) -> None:
    """What was known of attempts; when they were made the journal of runs knows, where it is in the same database."""
    times = {}
    trials = _trials_of_1(database)
    if {"run", "task", "number", "at"} <= database.columns("attempts"):
        found = database.read("select run, task, number, at from attempts")
        times = {(run, task, number): at for run, task, number, at in found}
    for episode in _episodes_of_1(database, project, times):
        record(_with_trial(episode, trials))
    database.write("drop table episodes")
    database.write("drop table if exists trials")


def _trials_of_1(database: Database) -> Trials:
    """What the agents were measured by: of which kind and size a task was, and whether it said anything of them."""
    if not database.columns("trials"):
        return {}
    rows = database.read("select run, task, agent_key, kind, size, risky, passed from trials")
    return {
        (run, task, agent): ((f"kind:{kind}", f"size:{size}", *(("risky",) if risky else ())), passed is not None)
        for run, task, agent, kind, size, risky, passed in rows
    }


def _with_trial(episode: Episode, trials: Trials) -> Episode:
    start, end = episode.start, episode.end
    found = trials.get((start.run, short(start.task), short(start.agent)))
    if found is None or end is None:
        return episode
    tags, judged = found
    start = replace(start, circumstances=Circumstances(tags=tags))
    return replace(episode, start=start, end=end if judged else replace(end, signals=(UNJUDGED,)))


def _episodes_of_1(database: Database, project: str, times: dict[Any, float]) -> Iterator[Episode]:
    rows = database.read(_OLD)
    for run, task, attempt, title, agent, verdict, reason, duration_ms, cost_usd in rows:
        ended_at = times.get((run, task, attempt), 0.0)
        start = EpisodeStart(
            id=_id(project, run, task, attempt),
            project=project,
            title=title,
            started_at=max(0.0, ended_at - duration_ms / 1000),
            owner=f"run {run}",
            run=run,
            task=task,
            attempt=attempt,
            agent=agent,
        )
        end = EpisodeEnd(
            kind=_ENDS.get(verdict, "partial"),
            ended_at=ended_at,
            verdict=Verdict(verdict) if verdict in {one.value for one in Verdict} else None,
            reason=reason,
            duration_ms=duration_ms,
            cost_usd=cost_usd,
        )
        yield Episode(start=start, end=end)


def _id(*parts: str | int) -> str:
    """The same for the same attempt of the same project, and for no other, on any machine."""
    return f"v1-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]}"


# By the version that each begins with.
MIGRATIONS: dict[int, Callable[[Database, Record, str], None]] = {1: _from_1}
