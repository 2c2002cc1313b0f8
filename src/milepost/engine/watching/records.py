"""What is written down of healing: each remedy before it is begun, and incidents with all that happened in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.errors import Misuse
from milepost.core.watching import RemedyKind
from milepost.engine.records.values_json import dump, load
from milepost.store.database import Database
from milepost.store.kill_points import reached
from milepost.watch.heal.situation import PastRemedy, RemedyOutcome

SCHEMA = """
create table if not exists watch_remedies (seq {serial}, place text not null, body text not null);
create table if not exists watch_incidents (seq {serial}, place text not null, body text not null);
"""
LONG_AGO = -1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class RemedyRecord:
    """A remedy: what, why, and the measurements before and after it."""

    number: int = 0
    kind: RemedyKind
    subject: str
    why: str
    release: int
    at: float
    """Of the user's clock; `tick` is monotonic and good for one start of the machine, `boot`."""
    tick: float
    boot: str
    incident: int
    instances: int = 0
    """How many there were."""
    done: bool = False
    """The act itself has ended; whether it helped is told by `outcome`."""
    outcome: RemedyOutcome = RemedyOutcome.UNDER_WAY
    said: str = ""
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)
    ended_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """From the first thing that was decided about a release that was not well until it was well again."""

    number: int = 0
    release: int
    began_at: float
    ended_at: float | None = None
    called: bool = False
    """A person was called."""
    timeline: tuple[tuple[float, str], ...] = ()

    def also(self, at: float, said: str) -> Incident:
        """With a line more; the same line is not said twice in a row."""
        if self.timeline and self.timeline[-1][1] == said:
            return self
        return replace(self, timeline=(*self.timeline, (at, said)))


class Healing:
    """The remedies and incidents of one target in one environment."""

    def __init__(self, database: Database, target: str, environment: str) -> None:
        self._database = database
        self._place = f"{target}/{environment}"
        database.script(SCHEMA)

    def remedies(self) -> tuple[RemedyRecord, ...]:
        """The oldest first."""
        sql = "select seq, body from watch_remedies where place = ? order by seq"
        rows = self._database.read(sql, self._place)
        return tuple(replace(load(RemedyRecord, json.loads(body)), number=seq) for seq, body in rows)

    def history(self, boot: str) -> tuple[PastRemedy, ...]:
        """What the decision is told of the past; remedies of an earlier start of the machine are long ago."""
        return tuple(
            PastRemedy(
                at=one.tick if one.boot == boot else LONG_AGO,
                kind=one.kind,
                subject=one.subject,
                release=one.release,
                outcome=one.outcome,
            )
            for one in self.remedies()[-50:]
        )

    def begin(self, remedy: RemedyRecord) -> RemedyRecord:
        """Write down that it will be done."""
        self._database.write("insert into watch_remedies (place, body) values (?, ?)", self._place, _text(remedy))
        begun = self.remedies()[-1]
        reached(f"remedy {begun.number} begun")
        return begun

    def keep(self, remedy: RemedyRecord) -> RemedyRecord:
        sql = "update watch_remedies set body = ? where place = ? and seq = ?"
        self._database.write(sql, _text(remedy), self._place, remedy.number)
        reached(f"remedy {remedy.number} {'done' if remedy.done else 'begun'} {remedy.outcome}")
        return remedy

    def incidents(self) -> tuple[Incident, ...]:
        """The newest first."""
        sql = "select seq, body from watch_incidents where place = ? order by seq desc"
        rows = self._database.read(sql, self._place)
        return tuple(replace(load(Incident, json.loads(body)), number=seq) for seq, body in rows)

    def incident(self, number: int) -> Incident:
        found = next((one for one in self.incidents() if one.number == number), None)
        if found is None:
            raise Misuse(f"there is no incident {number}", "milepost incidents lists them")
        return found

    def open_incident(self) -> Incident | None:
        return next((one for one in self.incidents() if one.ended_at is None), None)

    def put(self, incident: Incident) -> Incident:
        """Write down an incident; a new one gets its number."""
        if incident.number:
            sql = "update watch_incidents set body = ? where place = ? and seq = ?"
            self._database.write(sql, _text(incident), self._place, incident.number)
            return incident
        self._database.write("insert into watch_incidents (place, body) values (?, ?)", self._place, _text(incident))
        return self.incidents()[0]


def boot_id() -> str:
    """Which start of the machine this is."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _text(value: RemedyRecord | Incident) -> str:
    return json.dumps(dump(value))
