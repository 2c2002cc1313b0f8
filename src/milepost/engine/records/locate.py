"""Where the rows of a run are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from milepost.core.errors import RunUnknown, SettingInvalid
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import SERVER, load
from milepost.engine.project.work_server import NAME_IT, WorkServer, exchange_of
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.work_queue import Offers
from milepost.store.database import Database, open_database

LAST = "submitted"  # the file that remembers the last run that was submitted from here


def exchange_named(roadmap: Path | None, database: str | None, remote: str | None) -> WorkServer:
    """Where runs of a roadmap are submitted, by hand or by its settings."""
    settings = load(Project.find(roadmap).roadmap.parent, {"database": database, "remote": remote}, uses=SERVER)
    exchange = exchange_of(settings)
    if exchange is None:
        raise SettingInvalid("no shared database for workers is set", NAME_IT)
    return exchange


def submitted(roadmap: Path | None, exchange: WorkServer) -> tuple[RunRecord, bool] | None:
    """The run that was submitted last, and whether a worker is at it."""
    project = Project.find(roadmap)
    with _opened(exchange) as (database, journal):
        record = _submitted(project, journal)
        if record is None:
            return None
        held = database.read("select 1 from offers where run = ? and worker <> '' limit 1", record.run)
        return record, bool(held)


@contextmanager
def _opened(exchange: WorkServer) -> Iterator[tuple[Database, Journal]]:
    with closing(open_database(exchange.database)) as database:
        Offers(database)
        yield database, Journal(database)


def _submitted(project: Project, journal: Journal) -> RunRecord | None:
    with suppress(OSError):
        run_id = (project.state / LAST).read_text().strip()
        return next((record for record in journal.runs() if record.run == run_id), None)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLocation:
    """Where the rows of a run are, and its name; None means the newest there. `at_workers`: one is at it now."""

    place: Path | str = field(repr=False)
    run: str | None
    at_workers: bool = False


def where_kept(roadmap: Path | None, run: str | None, server: str | None = None) -> RunLocation:
    """Where a run is told of: on the server that runs are submitted to, by hand or by the settings, else here.

    Without a name the one that was submitted last from here is meant; a name that is known here means that one.
    """
    project = Project.find(roadmap)
    server = server_named(project, server)
    if not server:
        return RunLocation(place=project.store, run=run)
    if run is not None:
        with Journal.look(project.store) as journal:
            here = any(record.run == run.lower() for record in journal.runs())
        return RunLocation(place=project.store if here else server, run=run)

    known = submitted(roadmap, exchange_named(roadmap, server, None))
    if known is None:
        return RunLocation(place=project.store, run=None)
    return RunLocation(place=server, run=known[0].run, at_workers=known[1])


def server_named(project: Project, server: str | None) -> str:
    """The address of the database that runs are submitted to, by hand or by the settings; empty without one."""
    try:
        return load(project.roadmap.parent, {"database": server}, uses=SERVER).run.database
    except SettingInvalid:  # settings that cannot be read now say nothing of a run that was
        if server is not None:
            raise
    return ""


def find_run(journal: Journal, run: str | None) -> RunRecord | None:
    """The run of a name, or the newest one; None where nothing was run yet."""
    records = journal.runs()
    if run is None:
        return next(iter(records), None)
    found = next((record for record in records if record.run == run.lower()), None)
    if found is None:
        known = ", ".join(record.run for record in records[:5])
        raise RunUnknown(
            f"there is no run {run!r} here", f"the latest are: {known}" if known else "start one: milepost run"
        )
    return found
