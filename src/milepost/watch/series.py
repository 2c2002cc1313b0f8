"""What was measured of a target, kept: the newest points as they are, older ones by the minute.

A point without a value says that somebody looked and nothing could be known. It is never a zero and never left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from milepost.core.shipping import Measurement
from milepost.store.database import Database
from milepost.watch.spread import spread_of

RAW_POINTS = 1000
MINUTES_KEPT_S = 35 * 86_400.0
SCHEMA = """
create table if not exists watch_points (
    place text not null, metric text not null, at double precision not null,
    value double precision, primary key (place, metric, at));
create table if not exists watch_minutes (
    place text not null, metric text not null, at double precision not null,
    count bigint not null, missing bigint not null, total double precision not null, least double precision,
    most double precision, p50 double precision, p95 double precision, p99 double precision,
    primary key (place, metric, at));
"""
_ADD = """insert into watch_points (place, metric, at, value) values (?, ?, ?, ?)
    on conflict (place, metric, at) do update set value = excluded.value"""
_ADD_MINUTE = """insert into watch_minutes
    (place, metric, at, count, missing, total, least, most, p50, p95, p99)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (place, metric, at) do nothing"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minute:
    """The points of one minute. Without any value only `missing` says something."""

    at: float
    count: int
    missing: int
    total: float
    least: float | None = None
    most: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


class Series:
    """The series of one target in one environment."""

    def __init__(self, database: Database, target: str, environment: str) -> None:
        self._database = database
        self._place = f"{target}/{environment}"
        database.script(SCHEMA)

    def add(self, found: Sequence[Measurement]) -> None:
        """Write down what one look measured."""

        def write() -> None:
            for one in found:
                self._database.write(_ADD, self._place, one.metric, one.at, one.value)

        self._database.together(self._turn, write)

    def metrics(self) -> tuple[str, ...]:
        rows = self._database.read(
            "select distinct metric from watch_points where place = ? order by metric", self._place
        )
        return tuple(metric for (metric,) in rows)

    def points(self, metric: str, since: float = 0.0) -> tuple[Measurement, ...]:
        """The points that are kept as they were, the oldest first."""
        sql = "select at, value from watch_points where place = ? and metric = ? and at >= ? order by at"
        rows = self._database.read(sql, self._place, metric, since)
        return tuple(Measurement(metric=metric, value=value, at=at) for at, value in rows)

    def minutes(self, metric: str, since: float = 0.0) -> tuple[Minute, ...]:
        """What is older, the oldest first."""
        sql = """select at, count, missing, total, least, most, p50, p95, p99 from watch_minutes
            where place = ? and metric = ? and at >= ? order by at"""
        names = ("at", "count", "missing", "total", "least", "most", "p50", "p95", "p99")
        rows = self._database.read(sql, self._place, metric, since)
        return tuple(Minute(**dict(zip(names, row, strict=True))) for row in rows)

    def total(self, metric: str, since: float) -> float | None:
        """The sum of all values since then; None where there is none."""
        raw = [point.value for point in self.points(metric, since) if point.value is not None]
        older = [minute for minute in self.minutes(metric, since) if minute.count]
        return sum(raw) + sum(minute.total for minute in older) if raw or older else None

    def roll_up(self, keep: int = RAW_POINTS) -> None:
        """Put whole minutes of old points together, so that at least `keep` points of a series stay as they were."""
        for metric in self.metrics():
            points = self.points(metric)
            if len(points) > keep:
                until = points[-keep].at // 60 * 60
                minutes = minutes_of(point for point in points if point.at < until)
                self._database.together(self._turn, partial(self._roll, metric, minutes, until))

    def _roll(self, metric: str, minutes: Iterable[Minute], until: float) -> None:
        for one in minutes:
            row = (one.at, one.count, one.missing, one.total, one.least, one.most, one.p50, one.p95, one.p99)
            self._database.write(_ADD_MINUTE, self._place, metric, *row)
        self._database.write(
            "delete from watch_points where place = ? and metric = ? and at < ?", self._place, metric, until
        )
        forgotten = until - MINUTES_KEPT_S
        self._database.write(
            "delete from watch_minutes where place = ? and metric = ? and at < ?", self._place, metric, forgotten
        )

    @property
    def _turn(self) -> str:
        return f"watch/{self._place}"


def known_places(database: Database) -> tuple[tuple[str, str], ...]:
    """Every target and environment of which anything was ever measured."""
    database.script(SCHEMA)
    rows = database.read("select distinct place from watch_points order by place")
    return tuple((target, environment) for (place,) in rows for target, _, environment in [place.rpartition("/")])


def minutes_of(points: Iterable[Measurement]) -> list[Minute]:
    """Points in order, put together by the minute."""
    found = []
    for at, group in groupby(points, lambda point: point.at // 60 * 60):
        each = [point.value for point in group]
        values = [value for value in each if value is not None]
        spread = spread_of(values)
        found.append(
            Minute(
                at=at,
                count=len(values),
                missing=len(each) - len(values),
                total=sum(values),
                least=min(values, default=None),
                most=max(values, default=None),
                p50=spread.p50 if spread else None,
                p95=spread.p95 if spread else None,
                p99=spread.p99 if spread else None,
            )
        )
    return found
