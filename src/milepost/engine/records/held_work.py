"""Work that waits for a person, kept whole: what is needed to land it after its run, without asking anybody again."""

from __future__ import annotations

import json
from dataclasses import dataclass

from milepost.core.task import Task
from milepost.engine.records.run_spec import FinishedAttempt
from milepost.engine.records.values_json import dump, load
from milepost.store.database import Database

SCHEMA = """
create table if not exists held_work (
    run text not null, task text not null, body text not null, primary key (run, task));
"""
_KEEP = """
insert into held_work (run, task, body) values (?, ?, ?) on conflict (run, task) do update set body = excluded.body
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldWork:
    """A task as its run understood it, and all its attempts: the last is the one that waits."""

    run: str
    task: Task
    tries: tuple[FinishedAttempt, ...]

    @property
    def last(self) -> FinishedAttempt:
        return self.tries[-1]


class HeldWorks:
    """Keeps held work, by its run and task; what is kept twice is the same."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.script(SCHEMA)

    def keep(self, work: HeldWork) -> None:
        self._database.write(_KEEP, work.run, work.task.id, json.dumps(dump(work)))

    def find(self, run: str, task: str) -> HeldWork | None:
        """The work at a task in a run; None where nothing of it waits, or ever did."""
        sql = "select body from held_work where run = ? and lower(task) = lower(?)"
        rows = self._database.read(sql, run, task)
        return load(HeldWork, json.loads(rows[0][0])) if rows else None

    def of_run(self, run: str) -> tuple[HeldWork, ...]:
        """All that waits, or once did, of a run."""
        rows = self._database.read("select body from held_work where run = ? order by task", run)
        return tuple(load(HeldWork, json.loads(body)) for (body,) in rows)
