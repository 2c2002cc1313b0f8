"""Cleaning: what finished runs left goes when it is old, and nothing else does."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing, suppress

from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until
from tests.slow import slow

ROADMAP = """\
- [ ] 1.1 One
  - write one.txt 1
  - Verify: test -f one.txt
- [ ] 1.2 Two
  - write two.txt 2
  - Verify: test -f two.txt
"""
DAY_S = 86_400


def refs(sandbox: Sandbox) -> list[str]:
    """The refs of ours beside branches and notes."""
    found = sandbox.git("for-each-ref", "--format=%(refname)").splitlines()
    return [ref for ref in found if ref.startswith("refs/milepost")]


def rows(sandbox: Sandbox, table: str, run: str) -> int:
    column = {"workflow_status": "workflow_uuid", "operation_outputs": "workflow_uuid", "answers": "question"}
    with closing(sqlite3.connect(places.database(sandbox.repo))) as database:
        sql = f"select count(*) from {table} where substr({column.get(table, 'run')}, 1, 4) = ?"
        (count,) = database.execute(sql, (run,)).fetchone()
    return int(count)


def grow_old(sandbox: Sandbox, run: str, days: float) -> None:
    """Let a run have ended so many days ago."""
    then = time.time() - days * DAY_S
    with closing(sqlite3.connect(places.database(sandbox.repo))) as database, database:
        database.execute("update runs set finished_at = ? where run = ? and finished_at is not null", (then, run))
    for path in (places.state(sandbox.repo) / "logs").glob("*"):
        os.utime(path, (then, then))


def done(sandbox: Sandbox, *words: str) -> str:
    answer = sandbox.run("--json", *words)
    assert answer.code == 0, answer.stderr
    run: str = answer.events[-1]["run"]
    return run


def test_what_an_old_run_left_goes_and_its_mileposts_notes_and_history_stay(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP)
    old = done(sandbox, "--task", "1.1")
    young = done(sandbox)
    grow_old(sandbox, old, days=31)
    sandbox.git("update-ref", "refs/milepost-marks/here", "HEAD")
    posts, notes = sandbox.mileposts(), sandbox.git("rev-parse", "refs/notes/milepost")
    assert rows(sandbox, "workflow_status", old) and rows(sandbox, "operation_outputs", old)

    told = sandbox.milepost("clean", "--dry-run", "--json").json
    assert not told["removed"] and told["runs"] == [old]
    assert rows(sandbox, "workflow_status", old) == told["workflows"], "nothing was removed yet"
    answer = sandbox.milepost("clean")
    assert answer.code == 0 and answer.stdout.startswith("removed of 1 run: "), answer.stderr
    assert "freed" in answer.stdout

    assert [rows(sandbox, table, old) for table in ("workflow_status", "operation_outputs", "answers")] == [0, 0, 0]
    assert rows(sandbox, "workflow_status", young) and not any(f"/{old}/" in ref for ref in refs(sandbox))
    assert any(f"/{young}/" in ref for ref in refs(sandbox)) and "refs/milepost-marks/here" in refs(sandbox)
    assert (sandbox.mileposts(), sandbox.git("rev-parse", "refs/notes/milepost")) == (posts, notes)
    assert sandbox.milepost("proof", "1.1").code == 0 and rows(sandbox, "events", old)
    assert sandbox.milepost("clean").stdout.startswith("nothing to remove")
    sandbox.git("fsck", "--strict")


@slow
def test_attempts_stay_until_the_mileposts_are_merged(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP)
    sandbox.write("one.txt", "in the way: the branch is left to be merged by hand\n")
    answer = sandbox.run("--json")
    assert answer.code == 0 and not answer.events[-1]["fast_forwarded"], answer.stderr
    run = answer.events[-1]["run"]
    kept = [ref for ref in refs(sandbox) if f"/{run}/" in ref]

    answer = sandbox.milepost("clean", "--keep-days", "0")
    assert f"kept the attempts of run {run}" in answer.stdout
    assert [ref for ref in refs(sandbox) if f"/{run}/" in ref] == kept != []
    (sandbox.repo / "one.txt").unlink()
    sandbox.git("merge", "--quiet", "--ff-only", f"milepost/{run}")
    assert sandbox.milepost("clean", "--keep-days", "0").code == 0
    assert [ref for ref in refs(sandbox) if f"/{run}/" in ref] == []


@slow
def test_a_run_that_can_go_on_loses_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP.replace("write two.txt", "sleep 60\n  - write two.txt"))
    process = sandbox.start("run", "--agent", sandbox.agent, "--parallel", "1")
    try:
        wait_until(lambda: "refs/milepost/" in " ".join(refs(sandbox)) or process.poll() is not None, seconds=90)
        assert sandbox.milepost("clean", "--keep-days", "0").code == 1, "a run is on"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said
    before = refs(sandbox)
    run = before[0].split("/")[2]
    steps = rows(sandbox, "operation_outputs", run)

    assert sandbox.milepost("clean", "--keep-days", "0").stdout.startswith("nothing to remove")
    assert refs(sandbox) == before and rows(sandbox, "operation_outputs", run) == steps > 0


def test_without_a_run_there_is_nothing_to_clean_and_nothing_is_made(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP)
    assert sandbox.milepost("clean").stdout.startswith("nothing to remove")
    assert not places.state(sandbox.repo).exists()
