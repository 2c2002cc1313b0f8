"""The traps of the library that makes steps durable, each met by the engine as it is used.

A rollback journal by default, pickle by default, a version that is the hash of the source, a bound on how often a
run may be taken up again, two engines under one name, a library that changes under us.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import sqlite3
import tomllib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import dbos
import pytest
from dbos import _serialization

from milepost.core.errors import RowRefused
from milepost.engine.records.portable_rows import JSON, forbid_pickle
from milepost.engine.records.run_spec import VERSION
from tests import places
from tests.e2e.conftest import Answer, Sandbox, make_machine
from tests.e2e.test_chaos import wait_until

TWO = """\
- [ ] 1.1 First
  - write a.txt a
  - Verify: test -f a.txt
- [ ] 1.2 Second
  - Depends on: 1.1
  - sleep 3
  - write b.txt b
  - Verify: test -f b.txt
"""
pytestmark = pytest.mark.usefixtures("nursed")
DEATHS = 1000  # more than the library forgives by itself


def ask(machine: Sandbox, sql: str, *values: object) -> list[tuple[object, ...]]:
    path = places.database(machine.repo)
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=30)) as database, database, suppress(sqlite3.OperationalError):
        return database.execute(sql, values).fetchall()
    return []


def killed_in_the_second_task(machine: Sandbox) -> Answer:
    """Leave a run that was killed with one milepost made; gives what a second engine said meanwhile."""
    machine.roadmap(TWO)
    process = machine.start("run", "--agent", machine.agent, "--json")
    begun = "select 1 from events where body like '%stage_started%' and body like '%\"1.2\"%'"
    try:
        wait_until(lambda: bool(ask(machine, begun)) or process.poll() is not None, seconds=90)
        os.kill(process.pid, signal.SIGSTOP)  # it lives, and does not get further
        return machine.milepost("resume")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _, said = process.communicate()
        assert process.returncode == -signal.SIGKILL, said


@dataclass(frozen=True)
class Survivor:
    """A machine on which a run was killed over and over, and then went on to its end."""

    machine: Sandbox
    second_engine: Answer
    resumed: Answer
    steps_before: list[tuple[object, ...]]


@pytest.fixture(scope="module")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Survivor]:
    machine = make_machine(tmp_path_factory.mktemp("traps"))
    second = killed_in_the_second_task(machine)
    steps = ask(machine, "select workflow_uuid, function_id, function_name, output from operation_outputs")
    ask(machine, "update workflow_status set recovery_attempts = ?", DEATHS)
    yield Survivor(machine, second, machine.milepost("resume", "--json"), steps)


def test_a_run_is_taken_up_again_however_often_it_was_killed(survivor: Survivor) -> None:
    assert survivor.resumed.code == 0, survivor.resumed.stderr
    assert survivor.machine.mileposts() == ["1.1", "1.2"]
    statuses = ask(survivor.machine, "select distinct status from workflow_status")
    assert statuses == [("SUCCESS",)]
    ((most,),) = ask(survivor.machine, "select max(recovery_attempts) from workflow_status")
    assert isinstance(most, int) and most > DEATHS, "it was taken up again, not begun anew"


def test_no_finished_step_is_recorded_anew_by_the_engine_that_takes_over(survivor: Survivor) -> None:
    after = ask(survivor.machine, "select workflow_uuid, function_id, function_name, output from operation_outputs")
    assert survivor.steps_before and set(survivor.steps_before) <= set(after)


def test_a_second_engine_on_one_state_directory_is_refused(survivor: Survivor) -> None:
    assert survivor.second_engine.code == 1
    assert "already in progress" in survivor.second_engine.stderr


def test_the_database_is_in_wal_mode(survivor: Survivor) -> None:
    assert ask(survivor.machine, "pragma journal_mode") == [("wal",)]


def test_everything_recorded_is_json_and_nothing_is_a_pickle(survivor: Survivor) -> None:
    tables = ask(survivor.machine, "select name from sqlite_master where type = 'table' and name like 'workflow_%'")
    recorded = [
        (table, column, value)
        for (table,) in (*tables, ("operation_outputs",))
        for row in _rows(survivor.machine, str(table))
        for column, value in row.items()
        if isinstance(value, str | bytes) and value
    ]
    values = [value for _, column, value in recorded if column in ("inputs", "input", "output", "error", "value")]
    assert len(values) > 10, "there is something to look at"
    for value in values:
        json.loads(value)
    assert [(table, column) for table, column, value in recorded if _is_pickle(value)] == []


def test_runs_are_pinned_to_the_shape_of_what_is_recorded_not_to_the_source(survivor: Survivor) -> None:
    assert ask(survivor.machine, "select distinct application_version from workflow_status") == [(VERSION,)]


def test_a_run_of_another_version_is_refused_in_words_and_its_open_tasks_can_be_started_again(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    killed_in_the_second_task(machine)
    ask(machine, "update runs set version = 'older'")
    ask(machine, "update workflow_status set application_version = 'older'")
    before = ask(machine, "select count(*) from operation_outputs")

    refused = machine.milepost("resume")
    assert refused.code == 1
    assert "another version" in refused.stderr and "older" in refused.stderr and f"here {VERSION}" in refused.stderr
    assert "milepost run --new" in refused.stderr
    assert machine.run().code == 1, "nor is it gone on with by the way"
    assert machine.milepost("status").code == 0, "it can be looked at"
    assert ask(machine, "select count(*) from operation_outputs") == before

    again = machine.run("--new", "--json")
    assert again.code == 0, again.stderr
    assert {event["task"] for event in again.events if event.get("stage") == "act"} == {"1.2"}, "only what was open"
    assert machine.mileposts() == ["1.1", "1.2"]


def test_the_library_can_unpickle_only_where_pickle_is_taken_out_of_it() -> None:
    sources = Path(dbos.__file__).parent.rglob("*.py")
    by_name = re.compile(r"^\s*(import|from) +(cloudpickle|dill|jsonpickle|marshal|pickle|shelve)", re.MULTILINE)
    assert [path.name for path in sources if by_name.search(path.read_text())] == ["_serialization.py"]
    forbid_pickle()
    for say in (
        _serialization.deserialize_value,
        _serialization.deserialize_args,
        _serialization.deserialize_exception,
    ):
        with pytest.raises(RowRefused):
            say(b64encode(pickle.dumps({})).decode(), "py_pickle", JSON)


def test_the_library_is_pinned_to_the_version_that_was_tried() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    pins = [word for word in project["project"]["dependencies"] if word.startswith("dbos")]
    assert pins == [f"dbos=={version('dbos')}"]


def _rows(machine: Sandbox, table: str) -> list[dict[str, object]]:
    columns = [str(column[1]) for column in ask(machine, f"pragma table_info({table})")]
    return [dict(zip(columns, row, strict=True)) for row in ask(machine, f"select * from {table}")]


def _is_pickle(value: str | bytes) -> bool:
    """Whether bytes, or text that stands for bytes, begin as every pickle of today does."""
    plain = value.encode() if isinstance(value, str) else value
    sign = pickle.dumps("")[:2]
    with suppress(ValueError):
        return plain.startswith(sign) or b64decode(plain, validate=True).startswith(sign)
    return False
