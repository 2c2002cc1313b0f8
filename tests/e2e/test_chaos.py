"""kill -9 wherever it hurts: the run ends as if nothing had happened."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost import benchmarks
from milepost.core.errors import Misuse, SettingInvalid
from milepost.engine.chaos.sample import CASSETTE, ROADMAP, sample_files
from tests.e2e.conftest import Sandbox
from tests.integration.repositories import everything
from tests.slow import ALL, slow


def test_a_run_killed_at_every_boundary_ends_as_the_undisturbed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each life dies right after something new was recorded: a step, an answer of the model, a use of a tool."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tasks, calls = (4, 20) if ALL else (2, 12)
    report = benchmarks.chaos(tasks=tasks, random=0)
    assert benchmarks.chaos_findings(report) == []
    assert report.passed
    assert report.mileposts == tasks and report.model_calls == calls and report.boundaries > 12 * tasks
    toll = report.every_boundary
    assert toll is not None
    assert toll.kills == report.boundaries == toll.lives - 1
    assert toll.in_flight_models == 0, "what is cut at a boundary was recorded"
    assert not list(tmp_path.iterdir()), "the copies are gone"


@slow
def test_chaos_on_a_roadmap_of_the_users_own_kills_copies_and_leaves_theirs_alone(sandbox: Sandbox) -> None:
    for name, text in sample_files(4).items():
        sandbox.write(name, text)
    sandbox.write("milepost.toml", '[run]\nagent = "replay:cassette.json"\ndatabase = "postgresql://nowhere"\n')
    sandbox.commit("A project of mine")
    sandbox.write("README.md", "An edit that nobody committed\n")
    before = everything(sandbox.repo)
    words = ("--random", "2", "--parallel", "3", "--seed", "5")
    answer = sandbox.milepost("chaos", *words, TMPDIR=str(sandbox.home))
    assert answer.code == 0, f"{answer.stdout}\n{answer.stderr}"
    assert answer.stdout.startswith("ROADMAP.md, 4 tasks, 3 at a time")
    assert "nothing was lost, nothing was done twice" in answer.stdout
    kills = next(line for line in answer.stdout.splitlines() if line.startswith("kills"))
    assert kills.split() == ["kills", "2"]
    assert everything(sandbox.repo) == before


def test_chaos_asks_nobody_who_costs_money_and_says_what_it_lacks(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sandbox.repo)
    files = sample_files(2)
    sandbox.write(CASSETTE, files[CASSETTE])
    sandbox.write(ROADMAP, files[ROADMAP].replace("  - Files: pages/0002.txt", "  - Agent: command:claude"))
    sandbox.commit()
    with pytest.raises(Misuse, match="'command:claude'"):
        benchmarks.chaos(cassette=CASSETTE)
    with pytest.raises(Misuse, match="there is no recording"):
        benchmarks.chaos(ROADMAP)
    with pytest.raises(Misuse, match="--tasks"):
        benchmarks.chaos(ROADMAP, tasks=3)
    with pytest.raises(SettingInvalid, match="cannot be read"):
        benchmarks.chaos(ROADMAP, cassette="nowhere.json")
    sandbox.write(ROADMAP, files[ROADMAP].replace("[ ]", "[x]"))
    sandbox.commit()
    with pytest.raises(Misuse, match="there is no open task"):
        benchmarks.chaos(cassette=CASSETTE)


def test_nothing_of_a_killed_run_goes_on_running(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Slow\n  - write a.txt a\n  - sleep 600\n  - Verify: test -f a.txt\n")
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: bool(agents_of(sandbox)))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_until(lambda: not agents_of(sandbox))


def agents_of(machine: Sandbox) -> list[str]:
    """The processes that run this machine's agent."""
    agent = machine.agent.split()[-1].encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = place.read_bytes().split(b"\0")
            if agent in words and b"milepost" not in words:
                found.append(place.parent.name)
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
