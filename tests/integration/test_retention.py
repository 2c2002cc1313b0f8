"""What old runs left, in a state made by hand: on a server, and once a day."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from dbos import DBOSClient, DBOSPortableJSONSerializer, run_dbos_database_migrations

from milepost.core.attempt import Attempt, Outcome
from milepost.core.calls import Usage
from milepost.core.events import AgentSaid, CommandPrinted, RunFinished
from milepost.core.verdict import CheckResult, judge
from milepost.engine.project.project import Project
from milepost.engine.project.state_directory import make_state
from milepost.engine.records.journal import PRINTED, Journal
from milepost.engine.records.retention import CLEANED, DAY_S, clean, clean_daily
from milepost.store.database import Database, open_database

LONG_AGO = time.time() - 40 * DAY_S


def git(project: Project | Path, *words: str) -> str:
    folder = project if isinstance(project, Path) else project.roadmap.parent
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    done = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def summary(run: str) -> RunFinished:
    return RunFinished(
        run=run,
        branch=f"milepost/{run}",
        tasks=(),
        cost_usd=0,
        duration_ms=0,
        head="",
        fast_forwarded="",
        by_hand="",
    )


def log(project: Project, name: str, at: float = LONG_AGO) -> Path:
    path = project.state / f"logs/{name}.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * 100)
    os.utime(path, (at, at))
    return path


def attempt(log_id: str) -> Attempt:
    check = CheckResult(name="tests", outcome="passed", summary="", decisive=True, log_id=log_id)
    return Attempt(
        number=1,
        agent="code",
        base="b",
        commit="c",
        outcome=Outcome(status="finished", said="", usage=Usage(cost_usd=0)),
        evidence=judge("t", (check,)),
        duration_ms=1,
    )


def add_run(database: Database, project: Project, run: str, *, ended: bool, started_at: float = LONG_AGO) -> None:
    journal = Journal(database)
    journal.open_run(run, "1", {"user": {"branch": "main"}})
    journal.keep_answer("tree", f"{run}: tests", {})
    journal.keep_attempt(run, "1", attempt(f"log{run}"))
    lines = CommandPrinted(run=run, task="1", attempt=1, command="c", lines=("x",), errors=())
    journal.append(lines, f"{PRINTED}c/1")
    journal.append(AgentSaid(run=run, task="1", attempt=1, text="done"), "said")
    if ended:
        journal.close_run(run, summary(run))
    sql = (
        "update runs set started_at = ?, finished_at = case when finished_at is null then null else ? end where run = ?"
    )
    database.write(sql, started_at, started_at, run)
    git(project, "update-ref", f"refs/milepost/{run}/1/1", "HEAD")
    log(project, f"log{run}", at=LONG_AGO - 1)


def refs(project: Project) -> list[str]:
    listed = git(project, "for-each-ref", "--format=%(refname)", "refs/milepost")
    return sorted({ref.split("/")[2] for ref in listed.splitlines()})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "ROADMAP.md").write_text("- [ ] One\n")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message=Start")
    return Project.find(tmp_path)


@contextmanager
def dbos_on(url: str) -> Iterator[DBOSClient]:
    client = DBOSClient(system_database_url=url, serializer=DBOSPortableJSONSerializer())
    try:
        yield client
    finally:
        client.destroy()


def test_what_old_runs_left_on_a_server_goes_and_what_others_have_there_stays(project: Project, postgres: str) -> None:
    make_state(project.state)
    run_dbos_database_migrations(postgres)
    with closing(open_database(postgres)) as database, dbos_on(postgres) as dbos:
        for run, ended, at in (("0001", True, LONG_AGO), ("0002", True, time.time()), ("0003", False, LONG_AGO)):
            add_run(database, project, run, ended=ended, started_at=at)
            for workflow in (run, f"{run}/1/1", f"{run}1"):
                dbos.enqueue({"queue_name": "q", "workflow_name": "w", "workflow_id": workflow})

        told = clean(project.roadmap, database=postgres)

        left = sorted(one.workflow_id for one in dbos.list_workflows())
        answers = database.read("select question from answers order by question")
        events = {run: len(Journal(database).events(run, printed=True)) for run in ("0001", "0002", "0003")}
    assert events == {"0001": 1, "0002": 2, "0003": 2}, "what commands printed goes, what happened stays"
    assert told.removed and told.runs == ("0001",) and set(told.workflows) == {"0001", "0001/1/1"}
    assert left == ["00011", "0002", "0002/1/1", "00021", "0003", "0003/1/1", "00031"]
    assert answers == [("0002: tests",), ("0003: tests",)]
    assert refs(project) == ["0002", "0003"]
    assert sorted(path.stem for path in (project.state / "logs").iterdir()) == ["log0002", "log0003"]


def test_it_is_seen_to_once_a_day_and_a_clock_that_was_wrong_does_not_stop_it(project: Project) -> None:
    with project.lock() as lock, closing(open_database(project.database)) as database:
        for run in ("0001", "0002", "0003"):
            add_run(database, project, run, ended=True)
            clean_daily(project, lock.fd, 30)
            if run == "0001":
                assert refs(project) == []
            elif run == "0002":
                assert refs(project) == ["0002"], "today it was seen to"
                os.utime(project.state / CLEANED, (time.time() + 9 * DAY_S,) * 2)
        assert refs(project) == []


def test_a_run_that_has_ended_does_not_fail_of_what_cannot_be_removed(project: Project) -> None:
    with project.lock() as lock:
        project.database.write_bytes(b"no database, but long enough to be looked at" * 30)
        clean_daily(project, lock.fd, 30)
        (project.state / CLEANED).unlink()
        project.database.unlink()
        with closing(open_database(project.database)) as database:
            add_run(database, project, "0001", ended=True)
        (project.repository.common_dir / "refs/milepost/0001/1/1.lock").touch()
        clean_daily(project, lock.fd, 30)
    assert refs(project) == ["0001"]


def test_logs_that_an_attempt_under_way_may_need_stay(project: Project) -> None:
    make_state(project.state)
    with closing(open_database(project.database)) as database:
        add_run(database, project, "0001", ended=False)
        log(project, "unnamed", at=LONG_AGO + 1)
        log(project, "older", at=LONG_AGO - 1)
    told = clean(project.roadmap)
    assert [path.stem for path in told.logs] == ["older"]
