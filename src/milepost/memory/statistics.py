"""How agents fared: what each made of the tasks that it was given, kept in the state's database."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.store.database import Database
from milepost.store.dialect import short

_SCHEMA = """
    create table if not exists trials (
        {rowid}
        run text not null,
        task text not null,
        agent_key text not null,
        agent text not null,
        kind text not null,
        size text not null,
        risky bigint not null,
        passed bigint,
        attempts bigint not null,
        seconds double precision not null,
        cost_usd double precision not null,
        primary key (run, task, agent_key)
    );
"""

_RECORD = """
    insert into trials (run, task, agent_key, agent, kind, size, risky, passed, attempts, seconds, cost_usd)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, task, agent_key) do update set
        passed = excluded.passed, attempts = excluded.attempts, seconds = excluded.seconds, cost_usd = excluded.cost_usd
    where trials.passed is null
"""

_NEWEST = """
    select run, task, agent, kind, size, risky, passed, attempts, seconds, cost_usd
    from trials order by rowid desc limit ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one agent made of one task in one run, over all its attempts; `passed` is None where nobody could tell."""

    run: str
    task: str
    agent: str
    kind: str
    size: str
    risky: bool
    passed: bool | None
    attempts: int
    seconds: float
    cost_usd: float


class Statistics:
    """Keeps trials in a database, each as it was first judged."""

    def __init__(self, database: Database) -> None:
        self._db = database
        database.script(_SCHEMA)

    def record(self, trial: Trial) -> None:
        """There for the next process when this returns; one that is judged already stays as it is."""
        self._db.write(
            _RECORD,
            trial.run,
            short(trial.task),
            short(trial.agent),
            trial.agent,
            trial.kind,
            trial.size,
            trial.risky,
            trial.passed,
            trial.attempts,
            trial.seconds,
            trial.cost_usd,
        )

    def newest(self, most: int) -> tuple[Trial, ...]:
        """The newest trials, oldest first."""
        return tuple(
            Trial(
                run=run,
                task=task,
                agent=agent,
                kind=kind,
                size=size,
                risky=bool(risky),
                passed=None if passed is None else bool(passed),
                attempts=attempts,
                seconds=seconds,
                cost_usd=cost_usd,
            )
            for run, task, agent, kind, size, risky, passed, attempts, seconds, cost_usd in reversed(
                self._db.read(_NEWEST, most)
            )
        )
