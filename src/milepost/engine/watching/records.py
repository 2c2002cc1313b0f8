"""What is written down of healing: each remedy before it is begun, and incidents with all that happened in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.errors import Misuse
from milepost.core.shipping import Stage
from milepost.core.watching import RemedyKind
from milepost.engine.deploys.deploy import BY_HAND
from milepost.engine.records.releases import Releases
from milepost.engine.records.values_json import dump, load
from milepost.store.database import Database
from milepost.store.kill_points import reached
from milepost.watch.heal.situation import PastRemedy, RemedyOutcome

SCHEMA = """
create table if not exists watch_remedies (seq {serial}, place text not null, body text not null);
create table if not exists watch_incidents (seq {serial}, place text not null, body text not null);
create table if not exists watch_tasks (incident bigint primary key, task text not null);
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
    taken_back: bool = False
    """The deploy itself took the release back, before anybody watched it."""
    task: str = ""
    """The task of the roadmap that it became; it has a row of its own, as the watcher writes the rest meanwhile."""

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
        sql = (
            "select seq, body, coalesce(task, '') from watch_incidents left join watch_tasks on incident = seq "
            "where place = ? order by seq desc"
        )
        rows = self._database.read(sql, self._place)
        return tuple(replace(load(Incident, json.loads(body)), number=seq, task=task) for seq, body, task in rows)

    def incident(self, number: int) -> Incident:
        found = next((one for one in self.incidents() if one.number == number), None)
        if found is None:
            raise Misuse(f"there is no incident {number}", "milepost incidents lists them")
        return found

    def open_incident(self) -> Incident | None:
        return next((one for one in self.incidents() if one.ended_at is None), None)

    def note_rollbacks(self, releases: Releases) -> None:
        """Write down incidents for releases that were taken back before anybody watched them, each once."""

        def note() -> None:
            known = {one.release for one in self.incidents()}
            for record in reversed(releases.all()):
                if record.stage is Stage.ROLLED_BACK and record.number not in known:
                    moves = releases.moves(record.number)
                    back = [move for move in moves if move.stage == Stage.ROLLING_BACK]
                    if back and back[-1].said != BY_HAND:
                        told = tuple((move.at, " ".join(filter(None, (move.stage, move.said)))) for move in moves)
                        ended = Incident(
                            release=record.number,
                            began_at=back[0].at,
                            ended_at=record.changed_at,
                            timeline=told,
                            taken_back=True,
                        )
                        self.put(ended)

        self._database.together(f"incidents/{self._place}", note)

    def note_task(self, number: int, task: str) -> None:
        """Write down which task an incident became."""
        sql = "insert into watch_tasks (incident, task) values (?, ?) on conflict (incident) do nothing"
        self._database.write(sql, number, task)

    def put(self, incident: Incident) -> Incident:
        """Write down an incident; a new one gets its number."""
        if incident.number:
            sql = "update watch_incidents set body = ? where place = ? and seq = ?"
            self._database.write(sql, _text(incident), self._place, incident.number)
            return incident
        self._database.write("insert into watch_incidents (place, body) values (?, ?)", self._place, _text(incident))
        return self.incidents()[0]


def deserves_task(incident: Incident, remedies: Sequence[RemedyRecord]) -> bool:
    """Whether it was not healed, or by a rollback, and nothing is under way about it any more."""
    mine = [one for one in remedies if one.incident == incident.number]
    if any(one.outcome is RemedyOutcome.UNDER_WAY for one in mine):
        return False
    rolled_back = any(one.kind is RemedyKind.ROLL_BACK for one in mine)
    return incident.called or incident.taken_back or rolled_back


def boot_id() -> str:
    """Which start of the machine this is."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _text(value: RemedyRecord | Incident) -> str:
    return json.dumps(dump(value))
