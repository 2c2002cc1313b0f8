from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from milepost.core.shipping import Measurement
from milepost.store.database import Database, open_database
from milepost.watch.series import Series, minutes_of
from milepost.watch.spread import spread_between, spread_of


@pytest.fixture
def database() -> Iterator[Database]:
    with closing(open_database(Path(":memory:"))) as opened:
        yield opened


def points(values: list[float | None], start: float = 0.0) -> list[Measurement]:
    return [Measurement(metric="cpu", value=value, at=start + at) for at, value in enumerate(values)]


def test_old_points_are_put_together_by_whole_minutes_and_none_is_lost(database: Database) -> None:
    series = Series(database, "local", "dev")
    values: list[float | None] = [float(at % 10) for at in range(300)]
    series.add(points(values))
    for _ in range(2):  # doing it again changes nothing
        series.roll_up(keep=100)
    assert [point.at for point in series.points("cpu")] == list(range(180, 300))
    assert [(minute.at, minute.count) for minute in series.minutes("cpu")] == [(0, 60), (60, 60), (120, 60)]
    assert series.total("cpu", 0) == sum(value for value in values if value is not None)


def test_no_data_is_kept_as_no_data_also_by_the_minute(database: Database) -> None:
    series = Series(database, "local", "dev")
    series.add(points([1.0, None, None], 0) + points([None, None], 60) + points([2.0], 120))
    assert [point.value for point in series.points("cpu")] == [1.0, None, None, None, None, 2.0]
    series.roll_up(keep=1)
    told = [(minute.count, minute.missing, minute.p99) for minute in series.minutes("cpu")]
    assert told[0][:2] == (1, 2)
    assert told[1] == (0, 2, None)
    assert series.total("memory", 0) is None


def test_series_of_targets_and_environments_are_apart(database: Database) -> None:
    Series(database, "local", "dev").add(points([1.0]))
    assert Series(database, "local", "prod").metrics() == ()
    assert Series(database, "local", "dev").metrics() == ("cpu",)


def test_percentiles_are_right_to_two_percent() -> None:
    chance = random.Random(7)
    values = sorted(chance.lognormvariate(3, 1) for _ in range(10_000))
    found = spread_of(values)
    assert found is not None
    for said, share in ((found.p50, 0.5), (found.p95, 0.95), (found.p99, 0.99)):
        assert said == pytest.approx(values[int(share * len(values))], rel=0.02)


def test_percentiles_between_two_looks_are_those_of_what_came_between() -> None:
    before = ((10.0, 1000), (100.0, 1000), (1000.0, 1000), (float("inf"), 1000))
    after = ((10.0, 1000), (100.0, 1090), (1000.0, 1100), (float("inf"), 1100))
    found = spread_between(before, after)
    assert found is not None
    assert found.p50 == pytest.approx(55, rel=0.02)
    assert found.p99 == pytest.approx(550, rel=0.02)
    assert spread_between(after, after) is None
    anew = spread_between(after, ((10.0, 5), (100.0, 5), (1000.0, 5), (float("inf"), 5)))
    assert anew is not None
    assert anew.p99 == pytest.approx(5, rel=0.02)


def test_minutes_begin_where_the_clock_has_them() -> None:
    assert [minute.at for minute in minutes_of(points([1.0] * 5, 58.0))] == [0.0, 60.0]
