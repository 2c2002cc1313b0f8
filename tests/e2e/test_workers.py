"""Workers on one database and one remote: whatever happens to them, a run ends as on one machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psycopg
import pytest

import milepost
from milepost import runs
from milepost.api.detached import start
from milepost.engine.records.journal import Journal
from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_exact_resume import cassette, command, traced, write
from tests.postgres import Cluster
from tests.slow import slow

LEASE_S = 10.0  # a worker that is only slow, on a machine with much to do, must not lose it
PATIENCE_S = 300.0
SECRET = "correct-horse-battery"
SUBMIT = """
import sys, milepost
def tell(event):
    print(type(event).__name__, getattr(event, "task", ""), getattr(event, "what", ""), flush=True)
call, database, agent, parallel = sys.argv[1:]
given = {"agent": agent, "parallel": int(parallel)} if call == "run" else {}
ending = getattr(milepost, call)(database=database, on_event=tell, **given)
print(ending, flush=True)
"""


@dataclass
class Fleet:
    """A user's machine, a bare remote, and workers with homes of their own."""

    user: Sandbox
    remote: Path
    database: str
    folder: Path
    workers: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    followers: list[subprocess.Popen[str]] = field(default_factory=list)
    files: list[IO[str]] = field(default_factory=list)

    def hire(
        self, name: str, *words: str, capacity: int = 1, lease_s: float = LEASE_S, **env: str
    ) -> subprocess.Popen[str]:
        home = self.folder / name
        home.mkdir()
        (home / "milepost.toml").write_text(f"[worker]\nlease_s = {lease_s}\n")
        self.workers[name] = subprocess.Popen(
            self.user.argv("worker", "--name", name, "--remote", str(self.remote), "--capacity", str(capacity), *words),
            cwd=home,
            env={**self.user.environment, "HOME": str(home), **self._shared, **env},
            stderr=self._file(home / "log"),
            text=True,
            start_new_session=True,
        )
        return self.workers[name]

    @property
    def _shared(self) -> dict[str, str]:
        """What workers are told by their own users: where runs come from, and whose agent may do them."""
        return {"MILEPOST_DATABASE": self.database, "MILEPOST_AGENT": self.user.agent}

    def submit(self, parallel: int = 3, call: str = "run", agent: str = "") -> subprocess.Popen[str]:
        follower = subprocess.Popen(
            [sys.executable, "-c", SUBMIT, call, self.database, agent or self.user.agent, str(parallel)],
            cwd=self.user.repo,
            env=self.user.environment,
            stdout=self._file(self.folder / "submitted"),
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.followers.append(follower)
        return follower

    def _file(self, path: Path) -> IO[str]:
        self.files.append(path.open("w"))
        return self.files[-1]

    def path_with(self, program: str, script: str) -> str:
        """A PATH that has one program more."""
        folder = self.folder / f"bin-{len(self.workers)}"
        folder.mkdir()
        (folder / program).write_text(f"#!/bin/sh\n{script}\n")
        (folder / program).chmod(0o755)
        return f"{folder}{os.pathsep}{self.user.environment['PATH']}"

    def log(self, name: str) -> str:
        return (self.folder / name / "log").read_text()

    def told(self) -> str:
        return (self.folder / "submitted").read_text()

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(sql.encode()).fetchall()

    def holder(self, which: str, but: str = "") -> str:
        """A worker that holds an offer of this kind, empty where none does."""
        sql = (
            f"select w.name from offers o join workers w on w.id = o.worker where {which} and w.name <> '{but}' limit 1"
        )
        return "".join(str(row[0]) for row in self.ask(sql))

    def kept(self) -> str:
        """All that is kept in the database, ours and the engine's."""
        tables = self.ask("select schemaname || '.' || tablename from pg_tables where schemaname in ('public', 'dbos')")
        return "".join(str(self.ask(f"select * from {name}")) for (name,) in tables)

    def gone(self, name: str) -> bool:
        return self.ask(f"select gone from workers where name = '{name}'") == [("taken over",)]

    def workers_there(self) -> bool:
        return bool(self.ask("select to_regclass('workers')") != [(None,)] and self.ask("select 1 from workers"))

    def run(self) -> str:
        return (places.state(self.user.repo) / "submitted").read_text().strip()

    def dismiss(self) -> None:
        for worker in self.workers.values():
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait(PATIENCE_S)
        for follower in self.followers:  # one that a failed test left would fail the next
            follower.kill()
            follower.wait(PATIENCE_S)
        for file in self.files:
            file.close()


@pytest.fixture
def fleet(sandbox: Sandbox, postgres: str, tmp_path: Path) -> Iterator[Fleet]:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    sandbox.git("remote", "add", "origin", str(remote))
    address = postgres.replace("milepost@", f"milepost:{SECRET}@")
    made = Fleet(user=sandbox, remote=remote, database=address, folder=tmp_path / "fleet")
    made.folder.mkdir()
    yield made
    made.dismiss()


def until(true: Callable[[], object], what: str | Callable[[], str], patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)


def test_a_run_ends_as_on_one_machine_though_one_worker_dies_one_is_held_still_and_the_database_restarts(
    fleet: Fleet, make_sandbox: Callable[[], Sandbox], cluster: Cluster
) -> None:
    roadmap = "".join(_task(number) for number in range(1, 13))
    fleet.user.roadmap(roadmap)
    for name in ("ann", "bob", "cid"):
        fleet.hire(name, capacity=2)
    following = fleet.submit(parallel=6)
    until(lambda: fleet.told().count("MilepostMade") >= 2, "the run does not get going")

    parent = fleet.holder("counts = 0")
    os.kill(fleet.workers[parent].pid, signal.SIGKILL)
    until(lambda: fleet.holder("counts = 1", but=parent), "nobody is at work")
    still = fleet.holder("counts = 1", but=parent)
    os.kill(fleet.workers[still].pid, signal.SIGSTOP)
    cluster.restart()
    until(
        lambda: fleet.gone(still),
        lambda: "\n".join(["nobody takes over from the one that stands still", *map(fleet.log, fleet.workers)]),
    )
    os.kill(fleet.workers[still].pid, signal.SIGCONT)

    assert fleet.workers[still].wait(PATIENCE_S) == 3, fleet.log(still)
    assert "lost its lease: other workers took over its work" in fleet.log(still)
    assert following.wait(PATIENCE_S) == 0, fleet.told()
    assert fleet.gone(parent)
    assert not any(SECRET in text for text in (fleet.told(), *map(fleet.log, fleet.workers), fleet.kept()))
    branch = f"milepost/{fleet.run()}"
    assert sorted(fleet.user.mileposts(branch)) == sorted(f"T{number}" for number in range(1, 13))
    assert fleet.user.git("log", "--format=%s", "main.." + branch).count("\n") == 11
    fsck = subprocess.run(["git", "fsck", "--full", "--strict"], cwd=fleet.remote, capture_output=True, text=True)
    assert fsck.returncode == 0, fsck.stderr
    assert "missing" not in fsck.stdout
    alone = make_sandbox()
    alone.roadmap(roadmap)
    assert alone.run("--parallel", "6").code == 0
    assert fleet.user.git("rev-parse", f"{branch}^{{tree}}") == alone.git("rev-parse", "HEAD^{tree}")


def test_no_worker_takes_more_than_its_capacity_or_what_its_labels_do_not_cover(fleet: Fleet) -> None:
    tasks = [f"- [ ] T{n}: make {n}\n  - write {n}.txt x\n  - wait\n  - Verify: `cat {n}.txt`\n" for n in range(6)]
    fleet.user.roadmap("".join(task + ("  - Needs: docker\n" if n % 2 else "") for n, task in enumerate(tasks)))
    fleet.hire("plain", capacity=1, lease_s=PATIENCE_S)
    fleet.hire("ship", "--label", "docker", "--label", "node22", capacity=2, lease_s=PATIENCE_S)
    following = fleet.submit(parallel=6)
    until(fleet.told, "the run is not submitted")
    sql = "select w.name, count(*) from offers o join workers w on w.id = o.worker where counts = 1 group by w.name"
    most = {"plain": 0, "ship": 0}

    def all_are_at_work() -> bool:
        for name, count in fleet.ask(sql):
            most[str(name)] = max(most[str(name)], int(str(count)))
        return most == {"plain": 1, "ship": 2}

    until(all_are_at_work, lambda: "\n".join(["somebody takes too little, or too much", *map(fleet.log, most)]))
    fleet.user.let_go()
    while following.poll() is None:
        assert all_are_at_work(), most
    assert following.returncode == 0, fleet.told()
    taken = [line.split()[3] for line in fleet.log("plain").splitlines() if "  act  " in line]
    assert taken
    assert not {"T1", "T3", "T5"} & set(taken)


@slow
def test_who_follows_may_leave_and_a_worker_that_is_stopped_gives_back_what_it_holds(fleet: Fleet) -> None:
    fleet.user.roadmap("- [ ] T1: one\n  - wait\n  - write one.txt 1\n  - Verify: `grep 1 one.txt`\n")
    first = fleet.hire("ann")
    following = fleet.submit()
    until(lambda: "StageStarted T1" in fleet.told(), "the run does not get going")
    following.send_signal(signal.SIGINT)
    assert following.wait(PATIENCE_S) == 0
    assert f"Elsewhere(run='{fleet.run()}', again='milepost resume --database URL')" in fleet.told()
    first.send_signal(signal.SIGTERM)
    first.send_signal(signal.SIGINT)  # another one: two of a kind may come as one
    assert first.wait(PATIENCE_S) == 130, fleet.log("ann")
    assert fleet.ask("select distinct worker from offers") == [("",)]
    assert fleet.ask("select gone from workers") == [("left",)]
    fleet.user.let_go()
    fleet.hire("bob")
    assert fleet.submit(call="resume").wait(PATIENCE_S) == 0, fleet.told()
    assert fleet.user.mileposts(f"milepost/{fleet.run()}") == ["T1"]
    for words in (("proof", "T1"), ("attempts", "T1"), ("costs",), ("events",)):  # all came home with the branch
        assert (fleet.run() in fleet.user.milepost(*words, "--json").stdout, words) == (True, words)
    fleet.user.git("merge", "--ff-only", f"milepost/{fleet.run()}")
    assert fleet.user.milepost("proof", "T1").code == 0


@slow
def test_what_no_worker_can_do_is_refused_or_said_and_a_run_is_told_of_from_where_it_is(fleet: Fleet) -> None:
    fleet.user.roadmap("- [ ] T1: one\n  - write one.txt 1\n  - Verify: `grep 1 one.txt`\n  - Needs: docker, gpu\n")
    far = ("--database", fleet.database)
    refused = fleet.user.milepost("run", *far, "--agent", "bogus")
    assert (refused.code, "there is no agent 'bogus'" in refused.stderr) == (2, True)
    assert fleet.user.git("ls-remote", "origin") == ""

    following = fleet.submit(agent="command:only-there --fast")
    until(lambda: "no worker has joined yet: start one with milepost worker" in fleet.told(), "nobody is asked for")
    fleet.hire("plain")
    until(lambda: "T1 waits for a worker with docker, gpu" in fleet.told(), "nobody says what it waits for")
    for words in (("--agent", "command:another"), ("--budget", "5.0")):
        other = fleet.user.milepost("run", *far, *words)
        assert (other.code, f"was not started with {' '.join(words)}" in other.stderr) == (1, True)
        assert "milepost resume --database URL follows it" in other.stderr
    assert fleet.user.milepost("steer", *far, "--agent", "bogus").code == 2
    for look in (("events", "--json"), ("costs", "--json"), ("report", "--markdown", "-")):
        assert fleet.run() in fleet.user.milepost(*look, *far).stdout
    assert fleet.run() in fleet.user.milepost("costs", MILEPOST_DATABASE=fleet.database).stdout
    assert fleet.run() not in fleet.user.milepost("costs").stdout
    following.send_signal(signal.SIGINT)
    assert following.wait(PATIENCE_S) == 0
    assert fleet.told().count("waits for a worker") == fleet.told().count("no worker has joined yet") == 1


def left(_: milepost.Event) -> None:
    """Whoever follows a run leaves it."""
    raise KeyboardInterrupt


def test_a_task_is_tried_again_at_the_workers_as_it_was_submitted_and_only_the_run_that_is_meant_is_asked(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.user.roadmap("- [ ] T1: one\n  - Verify: `grep 1 one.txt`\n- [ ] T2: two\n")
    roadmap, far = fleet.user.repo / "ROADMAP.md", fleet.database
    agent = "command:only-there --fast"
    milepost.run(roadmap, agent=agent, approve="risky", budget_usd=0.5, database=far, on_event=left)
    first = fleet.run()
    with pytest.raises(milepost.MilepostError, match=f"the current run is {first}"):
        milepost.steer("pause", roadmap, run="ffff", database=far)
    with pytest.raises(milepost.MilepostError, match=f"the current run is {first}"):
        milepost.stop(roadmap, run="ffff", database=far)
    assert milepost.steer("drop", roadmap, task="t2", run=first, database=far) == first
    assert fleet.ask("select kind, task from steering where kind <> 'roadmap_seen'") == [("drop", "T2")]
    with Journal(far) as journal:
        journal.leave_run(first)

    milepost.retry("T1", roadmap, database=far, on_event=left)
    with Journal(far) as journal:
        again, before = (record.order for record in journal.runs())
    assert again["wished"] == ["T1"] and again["run"] == fleet.run() != first
    assert [again[name] == before[name] for name in ("agent", "approve", "trust", "budget")] == [True] * 4

    echo = "import json, sys; wish = json.load(sys.stdin)['wish']\n"
    echo += "print(json.dumps({'what': 'nothing_to_do', 'reason': wish['database']}))"
    monkeypatch.setattr(start, "PROGRAM", (sys.executable, "-I", "-c", echo))
    assert runs.retry_detached("T1", roadmap, database=far).reason == far


@slow
def test_an_attempt_that_is_taken_over_goes_on_after_its_last_answered_call(fleet: Fleet) -> None:
    fleet.user.roadmap("- [ ] T1: two files\n  - Verify: `grep -q two b.txt`\n")
    slow = command("sh", "-c", "dawdle; cat a.txt > b.txt; echo two >> b.txt")
    answers: list[dict[str, object]] = [{"calls": [write("a.txt", "one\n")]}, {"calls": [slow]}, {"text": "done"}]
    trace = fleet.folder / "trace"
    told, agent = str(trace), cassette(fleet.user, answers)
    pausing = fleet.path_with("dawdle", "exec sleep 600")
    fleet.hire("ann", MILEPOST_CHAOS_TRACE=told, MILEPOST_AGENT=agent, PATH=pausing)
    following = fleet.submit(agent=agent)
    until(lambda: trace.exists() and " 4 tool" in trace.read_text(), "the second tool is not used")
    os.kill(fleet.workers["ann"].pid, signal.SIGKILL)
    going = fleet.path_with("dawdle", "exit 0")
    fleet.hire("bob", MILEPOST_CHAOS_TRACE=told, MILEPOST_AGENT=agent, PATH=going)
    assert following.wait(PATIENCE_S) == 0, fleet.told()
    made, again = traced(trace)
    assert again == []
    assert {name.partition(" ")[2]: count for name, count in made.items() if name.endswith(("model", "tool"))} == {
        "1 model": 1,
        "2 tool": 1,
        "3 model": 1,
        "4 tool": 2,  # it was in flight
        "5 model": 1,
    }
    assert fleet.user.git("show", f"milepost/{fleet.run()}:b.txt") == "one\ntwo"


@slow
def test_a_worker_of_another_version_refuses_and_so_does_a_second_one_of_the_same_name(fleet: Fleet) -> None:
    fleet.hire("ann")
    until(fleet.workers_there, "the worker does not come")
    again = fleet.user.milepost(
        "worker",
        "--name",
        "ann",
        "--remote",
        str(fleet.remote),
        "--database",
        fleet.database,
        HOME=str(fleet.folder / "ann"),
    )
    assert (again.code, "use another name" in again.stderr) == (1, True)
    fleet.ask("update workers set version = '0' returning 1")
    other = fleet.user.milepost("worker", "--name", "bob", "--remote", str(fleet.remote), "--database", fleet.database)
    assert other.code == 1
    assert "this database has unfinished runs of format 0, but this worker uses" in other.stderr


def _task(number: int) -> str:
    """A task that takes a moment; every fourth fails first, every fifth waits for another."""
    lines = [f"- [ ] T{number}: make file {number}", f"  - write made/{number}.txt made {number}", "  - sleep 0.5"]
    if number % 4 == 0:
        lines.append("  - fail-first")
    if number % 5 == 0:
        lines.append(f"  - Depends on: T{number - 1}")
    return "\n".join([*lines, f"  - Verify: `grep made made/{number}.txt`", ""])
