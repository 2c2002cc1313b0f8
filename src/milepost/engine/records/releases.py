"""What is written down of releases: each with its stage, where it came from, who approved it, what the target said."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from milepost.core.errors import Misuse
from milepost.core.release_life import Failed, News, Returned, Succeeded, Terms, after, is_over
from milepost.core.shipping import Release, Stage, TargetSpec
from milepost.engine.records.values_json import dump, load
from milepost.store.database import Database
from milepost.store.kill_points import reached
from milepost.store.rows import Row

SCHEMA = """
create table if not exists releases (
    target text not null, environment text not null, number bigint not null, stage text not null, kept bigint not null,
    changed_at double precision not null, body text not null, primary key (target, environment, number));
create table if not exists release_moves (
    seq {serial}, target text not null, environment text not null, number bigint not null,
    at double precision not null, stage text not null, said text not null);
"""
_PUT = """
insert into releases (target, environment, number, stage, kept, changed_at, body) values (?, ?, ?, ?, ?, ?, ?)
    on conflict (target, environment, number) do update
    set stage = excluded.stage, kept = excluded.kept, changed_at = excluded.changed_at, body = excluded.body
"""
_MOVED = "insert into release_moves (target, environment, number, at, stage, said) values (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRecord:
    """A release as it is written down.

    `proof` is what speaks for its commit, empty for one that was deployed unproven. `kept` says that something of it
    may be at the target. `said` is the last word of the target or of whoever moved it.
    """

    release: Release
    spec: TargetSpec
    started_at: float
    changed_at: float
    proof: str = ""
    approved_by: str = ""
    said: str = ""
    kept: bool = False

    @property
    def number(self) -> int:
        return self.release.number

    @property
    def stage(self) -> Stage:
        return self.release.stage

    @property
    def unfinished(self) -> bool:
        return not is_over(self.stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One step in the life of a release; `seq` is its place in the stream of all releases."""

    seq: int
    target: str
    environment: str
    number: int
    at: float
    stage: str
    said: str


class Releases:
    """The releases of one target in one environment."""

    def __init__(self, database: Database, target: str, environment: str) -> None:
        self._database = database
        self._place = (target, environment)
        database.script(SCHEMA)

    def all(self) -> tuple[ReleaseRecord, ...]:
        """The newest first."""
        sql = "select body from releases where target = ? and environment = ? order by number desc"
        return tuple(load(ReleaseRecord, json.loads(body)) for (body,) in self._database.read(sql, *self._place))

    def find(self, number: int) -> ReleaseRecord:
        found = next((record for record in self.all() if record.number == number), None)
        if found is None:
            target, environment = self._place
            where = f"milepost releases {target} --env {environment}"
            raise Misuse(f"there is no release {number} on {target} ({environment})", f"{where} lists them")
        return found

    def live(self) -> ReleaseRecord | None:
        return next((record for record in self.all() if record.stage is Stage.LIVE), None)

    def unfinished(self) -> ReleaseRecord | None:
        return next((record for record in self.all() if record.unfinished), None)

    def moves(self, number: int) -> tuple[Move, ...]:
        """The life of a release so far, in order."""
        return tuple(move for move in moves_after(self._database, 0, self._place) if move.number == number)

    def open(self, record: ReleaseRecord) -> ReleaseRecord:
        """Write down a new release under the next number."""

        def add() -> ReleaseRecord:
            number = max((one.number for one in self.all()), default=0) + 1
            new = replace(record, release=replace(record.release, number=number))
            self._put(new)
            return new

        new = self._database.together(self._turn, add)
        reached(f"release {new.number} {new.stage}")
        return new

    def keep(self, record: ReleaseRecord) -> ReleaseRecord:
        """Write down what was learnt of a release, its stage unchanged."""
        self._database.together(self._turn, lambda: self._put(record, moved=False))
        return record

    def move(self, record: ReleaseRecord, news: News, terms: Terms, said: str = "") -> ReleaseRecord:
        """Write down what follows from news, for this release and for the one that it takes over from or gives back to.

        It is one transaction: there is never a moment with two live releases, or one too few.
        """
        stage = after(record.stage, news, terms)
        if stage is record.stage and not isinstance(news, Failed):
            return record
        changed_at = time.time() if stage is not record.stage else record.changed_at
        moved = replace(record, release=replace(record.release, stage=stage), changed_at=changed_at, said=said)

        def write() -> None:
            others = [one for one in self.all() if one.number != record.number]
            if stage is Stage.LIVE:
                self._say_to([one for one in others if one.stage is Stage.LIVE], Succeeded(), terms)
            if stage is Stage.ROLLED_BACK:
                before = record.release.previous
                self._say_to(
                    [one for one in others if one.stage is Stage.LIVE and one.number != before], Succeeded(), terms
                )
                self._say_to([one for one in others if one.number == before], Returned(), terms)
            self._put(moved)

        self._database.together(self._turn, write)
        reached(f"release {moved.number} {stage}")
        return moved

    def _say_to(self, records: Sequence[ReleaseRecord], news: News, terms: Terms) -> None:
        for record in records:
            stage = after(record.stage, news, terms)
            if stage is not record.stage:
                self._put(
                    replace(record, release=replace(record.release, stage=stage), changed_at=time.time(), said="")
                )

    def _put(self, record: ReleaseRecord, *, moved: bool = True) -> None:
        row = (*self._place, record.number, record.stage.value, record.kept, record.changed_at)
        self._database.write(_PUT, *row, json.dumps(dump(record)))
        if moved:
            self._database.write(_MOVED, *self._place, record.number, time.time(), record.stage.value, record.said)

    @property
    def _turn(self) -> str:
        return "releases/" + "/".join(self._place)


def moves_after(database: Database, seq: int, place: tuple[str, str] | None = None) -> tuple[Move, ...]:
    """What happened to releases after a place in the stream: to all, or to those of one target and environment."""
    database.script(SCHEMA)
    sql = "select seq, target, environment, number, at, stage, said from release_moves where seq > ?"
    if place is not None:
        sql += " and target = ? and environment = ?"
    rows: list[Row] = database.read(f"{sql} order by seq", seq, *(place or ()))
    names = ("seq", "target", "environment", "number", "at", "stage", "said")
    return tuple(Move(**dict(zip(names, row, strict=True))) for row in rows)


def known_places(database: Database) -> tuple[tuple[str, str], ...]:
    """Every target and environment to which anything was ever deployed."""
    database.script(SCHEMA)
    rows = database.read("select distinct target, environment from releases order by target, environment")
    return tuple((target, environment) for target, environment in rows)
