"""What the keeper does next, as a table."""

from pathlib import Path

import pytest

from milepost.ship.local.keeper import (
    LARGEST_FAILED,
    EndProcess,
    Keeper,
    StartProcess,
    after_death,
    decide,
    start_again_at,
    variables_of,
)
from milepost.ship.local.processes import Process
from milepost.ship.local.wanted import Kept, Program, Wanted, read_kept, read_wanted, write_kept, write_wanted

ONE = Program(name="1.0", argv=("app", "--port", "{port}"), folder="/", log="/log", port=4001)
TWO = Program(name="2.0", argv=("app",), folder="/", log="/log", port=4002, secrets=(("TOKEN", "HIS_TOKEN"),))
BOTH = Wanted(mark="t", port=80, programs=(ONE, TWO))
RUNS = Kept(mark="t/1.0/aa", process=Process(pid=7, ticks=70))


def test_what_does_not_run_is_started_and_what_is_not_wanted_is_ended() -> None:
    acts = decide(BOTH, {"1.0": RUNS}, {"1.0": True}, ["t/1.0/aa", "t/0.0/zz"], now=100)
    assert acts == [EndProcess("t/0.0/zz"), StartProcess(TWO)]


def test_a_twin_of_an_instance_that_runs_is_ended() -> None:
    acts = decide(Wanted(mark="t", port=80, programs=(ONE,)), {"1.0": RUNS}, {"1.0": True}, ["t/1.0/aa", "t/1.0/bb"], 0)
    assert acts == [EndProcess("t/1.0/bb")]


def test_with_everything_as_it_should_be_nothing_is_done() -> None:
    only = Wanted(mark="t", port=80, programs=(ONE,))
    assert decide(only, {"1.0": RUNS}, {"1.0": True}, ["t/1.0/aa"], now=100) == []


@pytest.mark.parametrize(("deaths", "pause"), [(1, 0), (2, 1), (3, 2), (5, 8), (9, 10)])
def test_what_dies_again_and_again_is_started_after_longer_pauses(deaths: int, pause: float) -> None:
    kept = Kept(mark="t/1.0/aa", deaths=tuple(100.0 + at for at in range(deaths)))
    assert start_again_at(kept) - kept.deaths[-1] == pause
    only = Wanted(mark="t", port=80, programs=(ONE,))
    assert bool(decide(only, {"1.0": kept}, {}, [], now=kept.deaths[-1])) == (pause == 0)


def test_deaths_of_long_ago_are_forgotten() -> None:
    dead = after_death(Kept(mark="m", deaths=(0.0, 50.0)), 100.0, 3)
    assert (dead.deaths, dead.ended_with, dead.process) == ((50.0, 100.0), 3, None)


def test_a_program_gets_its_port_its_variables_its_secrets_and_little_else() -> None:
    own = {"PATH": "/bin", "HIS_TOKEN": "t0ken", "AWS_SECRET_ACCESS_KEY": "no", "HOME": "/home/ada"}
    assert variables_of(TWO, "t/2.0/cc", own) == {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "HOST": "127.0.0.1",
        "PORT": "4002",
        "TOKEN": "t0ken",
        "MILEPOST_INSTANCE": "t/2.0/cc",
    }


def test_a_secret_that_is_not_set_stops_the_start() -> None:
    with pytest.raises(KeyError, match="HIS_TOKEN"):
        variables_of(TWO, "m", {})


def test_what_is_wanted_and_kept_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert (read_wanted(tmp_path), read_kept(tmp_path)) == (None, {})
    kept = {"1.0": RUNS, "2.0": Kept(mark="m", deaths=(1.0,), ended_with=1, said="no")}
    write_wanted(tmp_path, BOTH)
    write_kept(tmp_path, kept)
    assert (read_wanted(tmp_path), read_kept(tmp_path)) == (BOTH, kept)


def test_what_the_proxies_write_of_failed_requests_is_moved_aside_when_it_is_long(tmp_path: Path) -> None:
    write_wanted(tmp_path, Wanted(mark="nobody-carries-this", port=80))
    keeper, long = Keeper(tmp_path, {}), b"x" * (LARGEST_FAILED + 1)
    for log in ("failed-a.log", "failed-b.log"):
        (tmp_path / log).write_bytes(b"short")
    keeper.turn()
    (tmp_path / "failed-b.log").write_bytes(long)
    keeper.turn()
    assert {log.name: log.stat().st_size for log in tmp_path.glob("failed-*")} == {
        "failed-a.log": 5,
        "failed-b.log": 0,
        "failed-b.log.before": len(long),
    }
