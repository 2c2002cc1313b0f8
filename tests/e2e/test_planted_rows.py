"""A row that says it is a pickle is never read, wherever it stands: whoever writes a row runs no code here."""

from __future__ import annotations

import os
import pickle
import sqlite3
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_workers import PATIENCE_S, Fleet, fleet, until

__all__ = ["fleet"]

ONE = "- [ ] 1.1 One\n  - write a.txt a\n  - Verify: test -f a.txt\n"
INPUTS = "update workflow_status set inputs = '{bad}', serialization = 'py_pickle' where workflow_uuid = '{run}'"
OUTPUT = "update operation_outputs set output = '{bad}', serialization = 'py_pickle' where workflow_uuid = '{run}'"
OTHER = """
insert into workflow_status (workflow_uuid, status, name, executor_id, application_version, inputs,
    serialization, created_at, updated_at)
select 'stranger', 'PENDING', name, executor_id, application_version, '{bad}', 'py_pickle', created_at, updated_at
from workflow_status where workflow_uuid = '{run}'
"""
QUEUED = """
insert into dbos.workflow_status (workflow_uuid, status, name, queue_name, application_version, inputs, serialization,
    created_at, updated_at)
select 'stranger', 'ENQUEUED', 'roadmap', queues.name, workers.version, '{bad}', 'py_pickle', 1, 1
from workers, dbos.queues where queues.name like '%' || workers.id || '%' returning 1
"""


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.path}",)


def pickled(canary: Path) -> str:
    return b64encode(pickle.dumps(Touch(canary))).decode()


@pytest.mark.parametrize(
    ("command", "planted", "names"),
    [
        ("resume", INPUTS, "the row of '{run}' in workflow_status says that it is 'py_pickle'"),
        ("run", OUTPUT, "the row of '{run}' in operation_outputs says that it is 'py_pickle'"),
        ("resume", OTHER, "the row of 'stranger' in workflow_status says that it is 'py_pickle'"),
    ],
)
def test_a_planted_pickle_ends_a_run_in_one_line_and_makes_nothing(
    sandbox: Sandbox, command: str, planted: str, names: str
) -> None:
    sandbox.roadmap(ONE)
    assert sandbox.run("--approve", "each").code == 1, "it waits for a person"
    run, canary = sandbox.milepost("status", "--json").json["run"], sandbox.home / "canary"
    with closing(sqlite3.connect(places.database(sandbox.repo))) as database, database:
        assert database.execute(planted.format(bad=pickled(canary), run=run)).rowcount > 0
    answer = sandbox.milepost(command)
    assert (answer.code, names.format(run=run) in answer.stderr) == (1, True), answer.stderr
    assert "Traceback" not in answer.stderr
    assert not canary.exists()
    cleaned = sandbox.milepost("clean", "--keep-days", "0")
    assert (cleaned.code, canary.exists()) == (0, False), cleaned.stderr


def test_a_worker_reads_no_pickle_from_the_shared_database_and_says_whose_row_it_was(fleet: Fleet) -> None:
    canary, names = fleet.folder / "canary", "the row of 'stranger' in dbos.workflow_status says that it is 'py_pickle'"
    first = fleet.hire("ann")
    until(fleet.workers_there, "the worker does not come")
    fleet.ask(QUEUED.format(bad=pickled(canary)))
    assert first.wait(PATIENCE_S) == 1, fleet.log("ann")
    second = fleet.hire("bob")
    assert second.wait(PATIENCE_S) == 1, fleet.log("bob")
    assert names in fleet.log("ann") and names in fleet.log("bob")
    assert not canary.exists()


@pytest.mark.parametrize("column", ["run", "roadmap"])
def test_a_name_from_a_row_never_leads_out_of_the_state_directory(sandbox: Sandbox, column: str) -> None:
    sandbox.roadmap(ONE)
    assert sandbox.run("--approve", "each").code == 1, "it waits for a person"
    sql = "update runs set order_json = json_set(order_json, '$.roadmap', '../../x')"
    with closing(sqlite3.connect(places.database(sandbox.repo))) as database, database:
        database.execute(sql if column == "roadmap" else "update runs set run = '../../x'")
    before = sorted(sandbox.home.rglob("x*"))
    for words in (("resume",), ("run",), *([("status",), ("report",)] if column == "run" else [])):
        answer = sandbox.milepost(*words)
        assert (answer.code, "'../../x' is no" in answer.stderr, "Traceback" in answer.stderr) == (1, True, False), (
            words
        )
    assert sorted(sandbox.home.rglob("x*")) == before
