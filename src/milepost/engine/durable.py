"""DBOS, as this engine uses it: the only module that knows how a step is made durable.

Each run has an executor id of its own, so that opening one run wakes no other. A step or workflow
never ends in a recorded error: what fails is the machine, not the work, and the run parks.
"""

from __future__ import annotations

import functools
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy
from dbos import DBOS, DBOSPortableJSONSerializer, SetWorkflowID

from milepost.core.errors import MachineFailed, MilepostError, StateUnwritable
from milepost.engine.order import VERSION
from milepost.engine.parking import Parked
from milepost.engine.rooms import Rooms
from milepost.store.boundary import reached

P = ParamSpec("P")
R = TypeVar("R")

SHORTEST_PAUSE_S = 0.001  # between a workflow's end and its record
UNSEEN_PAUSE_S = 0.25  # for an end that this process did not see, because it was before a restart

_open: list[Rooms] = []
_steps: dict[str, int] = {}  # recorded in this process, finished before or now, by workflow
_launching = threading.local()


def rooms() -> Rooms:
    """The rooms of the engine that runs in this process."""
    return _open[-1]


def step(function: Callable[Concatenate[Rooms, P], R]) -> Callable[P, R]:
    """A function whose result is recorded: once it has finished, it never runs again."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        here = rooms()
        with parking_on_failure(here), here.parking.step():
            return function(here, *args, **kwargs)

    del guarded.__wrapped__  # DBOS would read the signature with the rooms in it
    recorded = DBOS.step(name=function.__name__)(guarded)

    def marked(*args: P.args, **kwargs: P.kwargs) -> R:
        result = recorded(*args, **kwargs)
        workflow_id = DBOS.workflow_id or ""
        _steps[workflow_id] = _steps.get(workflow_id, 0) + 1
        reached(f"{workflow_id} {_steps[workflow_id]} {function.__name__}")
        return result

    return marked


def workflow(function: Callable[Concatenate[Rooms, P], R]) -> Callable[P, R]:
    """A function made of steps, which goes on after a crash where it was."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        here = rooms()
        with here.parking.workflow(DBOS.workflow_id or ""), parking_on_failure(here):
            return function(here, *args, **kwargs)

    del guarded.__wrapped__
    return DBOS.workflow(name=function.__name__, max_recovery_attempts=None)(guarded)


@contextmanager
def parking_on_failure(here: Rooms) -> Iterator[None]:
    try:
        yield
    except Parked:
        raise
    except BaseException as error:  # also a listener that exits: its thread would end and nobody hear of it
        here.parking.fail(_in_our_words(error))
        raise Parked from error


def _in_our_words(error: BaseException) -> Exception:
    """A failure of the database or the disk as the error that says what to do about it."""
    advice = "free some space or make it writable, then: milepost resume"
    if isinstance(error, sqlalchemy.exc.DBAPIError):
        return StateUnwritable(f"the run's database cannot be used: {error.orig}", advice)
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        where = f"{error.filename!r}: " if error.filename else ""
        return StateUnwritable(f"{where}{error.strerror or error}", advice)
    return error if isinstance(error, Exception) else BrokenPipeError(f"whoever listened is gone: {error!r}")


def start(workflow_id: str, function: Callable[..., Any], *args: Any) -> None:
    """Start a workflow under an id; one that was started before is left as it is."""
    rooms().parking.expect(workflow_id)
    with SetWorkflowID(workflow_id):
        DBOS.start_workflow(function, *args)


@step
def first_finished(here: Rooms, workflow_ids: list[str]) -> dict[str, Any]:
    """The first of several workflows to finish, and its result; recorded, so a resumed run sees the same order."""
    pause_s = SHORTEST_PAUSE_S
    while True:
        returned = here.parking.wait_for_return(workflow_ids, UNSEEN_PAUSE_S)
        finished = DBOS.list_workflows(workflow_ids=workflow_ids, status="SUCCESS", load_input=False, limit=1)
        if finished:
            return {"workflow_id": finished[0].workflow_id, "result": finished[0].output}
        if here.parking.stopping:
            raise Parked
        refuse_overdue(here, workflow_ids)
        if returned:
            here.parking.wait(pause_s)
            pause_s = min(pause_s * 1.5, UNSEEN_PAUSE_S)


def refuse_overdue(here: Rooms, workflow_ids: list[str]) -> None:
    """Raise when a workflow was not taken up, or its end not recorded: waiting for it would never end."""
    for workflow_id in workflow_ids:
        if problem := here.parking.overdue(workflow_id):
            raise MachineFailed(f"{workflow_id}: {problem}", "see that the disk is not full, then: milepost resume")


@contextmanager
def launched(database: Path, run: str, here: Rooms, interrupted: Callable[[], None]) -> Iterator[None]:
    """DBOS running in this process for one run; unfinished workflows of the run go on at once."""
    if _open:
        raise MilepostError("a run is already going on in this process", "wait for it, or use another process")
    engine = sqlite_engine(database)
    _open.append(here)
    try:
        DBOS(
            config={
                "name": "milepost",
                "system_database_url": f"sqlite:///{database}",
                "system_database_engine": engine,
                "executor_id": run,
                "application_version": VERSION,
                "serializer": DBOSPortableJSONSerializer(),
                "log_level": "CRITICAL",
                "notification_listener_polling_interval_sec": 1.0,
            }
        )
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        _launch()
        yield
    finally:
        _drain(here, interrupted)
        DBOS.destroy(workflow_completion_timeout_sec=0)
        engine.dispose()
        _open.clear()
        _steps.clear()


def _launch() -> None:
    _launching.here = True
    try:
        DBOS.launch()
    except Exception as error:
        raise _in_our_words(error) from error
    finally:
        _launching.here = False


def result_of(run: str) -> Any:
    """The result of a workflow that has finished, else None."""
    finished = DBOS.list_workflows(workflow_ids=[run], status="SUCCESS", load_input=False)
    return finished[0].output if finished else None


def _drain(here: Rooms, interrupted: Callable[[], None]) -> None:
    """Wait until no workflow of ours is in this process any more: each leaves at its next step."""
    here.parking.stop()
    while not here.parking.quiet:
        try:
            here.parking.wait(0.1)
        except KeyboardInterrupt:
            interrupted()


def sqlite_engine(database: Path) -> sqlalchemy.Engine:
    """An engine in WAL mode, which DBOS does not choose by itself: several times faster, as safe against kill -9.

    While a thread launches DBOS, which makes its tables, every transaction of it is begun in so many words,
    so that the tables are made all or none: Python by itself begins none for a table.
    """
    engine = sqlalchemy.create_engine(f"sqlite:///{database}", pool_size=20, max_overflow=20)

    @sqlalchemy.event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("busy_timeout=30000", "foreign_keys=on", "journal_mode=wal", "synchronous=normal"):
            connection.execute(f"pragma {pragma}")
        if sqlite3.sqlite_version_info < (3, 42):
            connection.create_function("unixepoch", -1, _unixepoch)

    @sqlalchemy.event.listens_for(engine, "begin")
    def begin(connection: sqlalchemy.Connection) -> None:
        if getattr(_launching, "here", False):
            connection.exec_driver_sql("begin immediate")

    return engine


def _unixepoch(*words: str) -> float:
    """What `unixepoch('subsec')` gives from SQLite 3.42 on; DBOS asks for it on Python 3.12, whatever SQLite it has."""
    return time.time() if "subsec" in words else int(time.time())


def wait_for(run: str, here: Rooms, look: Callable[[], None], interrupted: Callable[[], None]) -> Any:
    """The result of a run's workflow, or raises what parked it; `look` is called while waiting."""
    while True:
        try:
            look()
            if here.parking.stopping and here.parking.quiet:
                raise here.parking.failure or Parked()
            if (result := result_of(run)) is not None:
                return result
            refuse_overdue(here, [run])
            here.parking.wait_for_return([run], 0.1)
        except KeyboardInterrupt:
            interrupted()
