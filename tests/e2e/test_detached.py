"""A run in a process of its own: it keeps nothing of the server that asked for it, and outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import milepost
from milepost import attempts, events, runs
from milepost.api.detached import start
from milepost.api.detached.request import DetachedStart, error_file, new_run
from milepost.engine.project.state_lock import holder_of
from milepost.engine.records.journal import Journal
from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until

ONE = "# Roadmap\n\n- [ ] 1.1 One\n  - write a.txt one\n  - wait\n  - Verify: grep -q one a.txt\n"
SERVER = """
import json, os, socket, sys, time
from milepost import runs
listening = socket.create_server(("127.0.0.1", 0))
listening.set_inheritable(True)
begun = runs.start_detached(sys.argv[1], agent=sys.argv[2])
print(json.dumps({"what": begun.what, "run": begun.run}), flush=True)
time.sleep(600)
"""


def over(sandbox: Sandbox) -> list[str]:
    """Wait for the end of the newest run; gives what happened in it."""
    roadmap = sandbox.repo / "ROADMAP.md"
    wait_until(lambda: runs.current(roadmap) is None)
    return [entry.event.event for entry in events.read(roadmap)]


def streams_of(pid: int) -> set[str]:
    """The sockets and pipes that a process holds."""
    found = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(link.readlink()))
    return {name for name in found if name.startswith(("socket:", "pipe:"))}


def test_a_run_outlives_the_server_and_keeps_neither_its_sockets_nor_its_secrets(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    roadmap = sandbox.repo / "ROADMAP.md"
    secret = {"MILEPOST_WEB_KEY": "the key of the page", "MILEPOST_MCP_TOKEN": "a token"}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(roadmap), sandbox.agent],
        cwd=sandbox.home,
        env={**sandbox.environment, **secret},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    begun = json.loads(server.stdout.readline())
    assert begun["what"] == "started"
    holder = holder_of(places.state(roadmap.parent))
    assert holder is not None and holder.run == begun["run"] == runs.current(roadmap)
    assert not streams_of(holder.pid) & streams_of(server.pid) and streams_of(server.pid)
    assert b"MILEPOST_WEB_KEY" not in Path(f"/proc/{holder.pid}/environ").read_bytes()
    os.kill(server.pid, signal.SIGKILL)
    server.communicate(timeout=300)

    os.kill(holder.pid, signal.SIGKILL)
    wait_until(lambda: holder_of(places.state(roadmap.parent)) is None)
    resumed = runs.resume_detached(roadmap)
    assert (resumed.what, resumed.run) == ("resumed", begun["run"])
    sandbox.let_go()
    assert "milepost_made" in over(sandbox) and sandbox.mileposts() == ["1.1"]
    again = runs.resume_detached(roadmap)
    assert (again.what, again.reason) == ("nothing_to_do", "the last run is finished")


def test_a_task_is_tried_once_more_by_who_tried_it_last_or_by_another(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE.replace("  - wait\n", "  - exit 3\n"))
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.commit("Settings")
    roadmap = sandbox.repo / "ROADMAP.md"
    assert attempts.last_agent("1.1", roadmap) is None
    assert sandbox.run().code == 1
    assert attempts.last_agent("1.1", roadmap) == sandbox.agent
    died = DetachedStart(what="refused", run="7f3a", reason="the disk is full", advice="make room")
    error_file(roadmap).write_text(died.model_dump_json())
    with pytest.raises(milepost.MilepostError, match="there is no agent 'nobody'"):
        runs.retry_detached("1.1", roadmap, agent="nobody")
    assert runs.detached_error("7f3a", roadmap) == "the disk is full: make room", "nothing began: it still stands"
    begun = runs.retry_detached("1.1", roadmap)
    assert begun.what == "started"
    over(sandbox)
    assert [one.agent for one in attempts.of_task("1.1", roadmap)] == [sandbox.agent] * 2


COSTLY = {"version": 2, "tasks": {"1.1": [{"agent": "tool", "answers": [{"text": "no", "cost_usd": 0.2}]}]}}


def order_of(roadmap: Path, run: str) -> dict[str, object]:
    """How a run is held."""
    with Journal(places.database(roadmap.parent)) as journal:
        (order,) = [record.order for record in journal.runs() if record.run == run]
    names = ("agent", "trust", "approve", "parallel", "ordered")
    kept = {name: order[name] for name in names}
    return {**kept, "network": order["sandbox"]["network"], "memory": order["memory"]["mode"]}


def test_a_task_is_tried_once_more_within_the_walls_gates_and_budget_of_the_run_before(sandbox: Sandbox) -> None:
    sandbox.roadmap("# Roadmap\n\n- [ ] 1.1 One\n  - Verify: test -f a.txt\n")
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.commit("Settings")
    (sandbox.home / "costly").write_text(json.dumps(COSTLY))
    costly = f"replay:{sandbox.home / 'costly'}"
    flags = "--trust isolated --approve risky --parallel 3 --network loopback --memory read-only --ordered --budget 0.4"
    ran = sandbox.milepost("run", "--agent", costly, *flags.split(), "--json")
    roadmap = sandbox.repo / "ROADMAP.md"
    assert ran.code == 1, ran.stderr
    held = order_of(roadmap, ran.events[-1]["run"])
    assert (held["trust"], held["approve"], held["memory"]) == ("isolated", "risky", "read-only")

    begun = runs.retry_detached("1.1", roadmap)
    assert begun.held == f"by {costly[:60]}, isolated, asking before what is risky, with $0.20 left"
    over(sandbox)
    assert order_of(roadmap, begun.run) == held

    spent = sandbox.milepost("retry", "1.1")
    assert spent.code == 1 and f"the budget of $0.20 of run {begun.run} is spent" in spent.stderr
    more = sandbox.milepost("retry", "1.1", "--budget", "2", "--json")
    assert order_of(roadmap, more.events[-1]["run"]) == held, more.stderr


def test_a_process_that_says_nothing_is_told_from_one_that_is_slow(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = new_run(sandbox.repo / "ROADMAP.md")
    monkeypatch.setattr(start, "PROGRAM", (sys.executable, "-I", "-c", "print('no line', end='')"))
    with pytest.raises(milepost.MilepostError, match="ended before the run began"):
        start.start(wish)
    monkeypatch.setattr(start, "PROGRAM", (sys.executable, "-I", "-c", "import time; time.sleep(600)"))
    monkeypatch.setattr(start, "PATIENCE_S", 0.2)
    with pytest.raises(milepost.MilepostError, match=r"did not begin within 0\.2 s"):
        start.start(wish)
    assert start.environment({"PATH": "x", "MILEPOST_WEB_KEY": "y", "MILEPOST_TRUST": "z"}) == {
        "PATH": "x",
        "MILEPOST_TRUST": "z",
    }
