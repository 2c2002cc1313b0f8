"""The keeper with real processes: it finds again what an earlier one started, and ends what nobody wants."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from milepost.ship.local.keeper import Keeper
from milepost.ship.local.processes import MARK, carrying, leader_of, listens, stop, stranger_on
from milepost.ship.local.wanted import Kept, Program, Wanted, read_kept, write_kept, write_wanted


@pytest.fixture
def mark() -> Iterator[str]:
    """A target's mark; whatever carries it in the end is stopped."""
    mark = f"test-dev-{os.urandom(4).hex()}"
    yield mark
    stop(mark, 0)


def _sleeper(mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: mark}, start_new_session=True)


def _program(folder: Path) -> Program:
    return Program(name="1.0", argv=("sleep", "60"), folder=str(folder), log=str(folder / "log"))


def _turn_until(keeper: Keeper, happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        keeper.turn()


def test_what_was_started_and_not_yet_written_down_is_found_by_its_mark(tmp_path: Path, mark: str) -> None:
    """The keeper was killed between the start of a process and the record of its number."""
    with _sleeper(f"{mark}/1.0/aa") as started:
        write_wanted(tmp_path, Wanted(mark=mark, port=0, programs=(_program(tmp_path),)))
        write_kept(tmp_path, {"1.0": Kept(mark=f"{mark}/1.0/aa")})
        Keeper(tmp_path, os.environ).turn()
        assert list(carrying(mark)) == [started.pid]
        process = read_kept(tmp_path)["1.0"].process
        assert process is not None and process.pid == started.pid
        started.kill()


def test_a_process_of_a_start_that_nobody_knows_of_is_ended_and_its_children_too(tmp_path: Path, mark: str) -> None:
    script = ["sh", "-c", "sleep 60 & sleep 60"]
    with subprocess.Popen(script, env={**os.environ, MARK: f"{mark}/1.0/bb"}, start_new_session=True) as unknown:
        write_wanted(tmp_path, Wanted(mark=mark, port=0, programs=(_program(tmp_path),)))
        keeper = Keeper(tmp_path, os.environ)
        _turn_until(keeper, lambda: not any(carrying(f"{mark}/1.0/bb")) and "1.0" in read_kept(tmp_path))
        assert unknown.wait() < 0
        kept = read_kept(tmp_path)["1.0"]
        assert kept.process == leader_of(kept.mark) is not None
        write_wanted(tmp_path, Wanted(mark=mark, port=0))
        _turn_until(keeper, lambda: not any(carrying(mark)) and not read_kept(tmp_path))
        assert keeper.turn() is False


def test_a_program_that_cannot_be_started_says_why(tmp_path: Path, mark: str) -> None:
    missing = Program(name="1.0", argv=("/no/such/program",), folder=str(tmp_path), log=str(tmp_path / "log"))
    write_wanted(tmp_path, Wanted(mark=mark, port=0, programs=(missing,)))
    Keeper(tmp_path, os.environ).turn()
    kept = read_kept(tmp_path)["1.0"]
    assert "No such file or directory" in kept.said
    assert len(kept.deaths) == 1


def test_a_port_is_its_who_listens_on_it(mark: str) -> None:
    opens = "s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
    script = f"import socket, time; {opens}; time.sleep(60)"
    with subprocess.Popen(
        ["python3", "-c", script], env={**os.environ, MARK: f"{mark}/1.0/cc"}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert listens(port, f"{mark}/1.0/cc")
        assert not listens(port, "another")
        assert stranger_on(port, mark) == ""
        assert f"(pid {process.pid})" in stranger_on(port, "another")
        process.kill()
