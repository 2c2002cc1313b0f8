"""The stream of a run's events, with their places in it, for whoever follows from outside. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milepost.core.errors import RunUnknown, SettingInvalid
from milepost.core.events import EVENTS_VERSION
from milepost.engine.journal import Entry, Journal, RunRecord, event_to_json
from milepost.engine.project import Project
from milepost.engine.settings import load


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where the rows of a run are, and its name; None means the newest there. `at_workers`: one is at it now."""

    place: Path | str = field(repr=False)
    run: str | None
    at_workers: bool = False


def events(
    roadmap: Path | None,
    run: str | None = None,
    after: int = 0,
    *,
    follow: bool = False,
    printed: bool = False,
    server: str | None = None,
) -> Iterator[Entry]:
    """The events of a run that come after a place in the stream; `follow` waits for more until the run is over.

    With `printed` also what its commands printed. The newest run is meant unless another is named; nothing comes where
    nothing was run yet.
    """
    kept = where_kept(roadmap, run, server)
    with Journal.look(kept.place) as journal:
        record = find_run(journal, kept.run)
        if record is not None:
            read = journal.follow if follow else journal.events
            yield from read(record.run, after, printed=printed)


def where_kept(roadmap: Path | None, run: str | None, server: str | None = None) -> Kept:
    """Where a run is told of: on the server that runs are submitted to, by hand or by the settings, else here.

    Without a name the one that was submitted last from here is meant; a name that is known here means that one.
    """
    project = Project.find(roadmap)
    server = server_named(project, server)
    if not server:
        return Kept(place=project.store, run=run)
    if run is not None:
        with Journal.look(project.store) as journal:
            here = any(record.run == run.lower() for record in journal.runs())
        return Kept(place=project.store if here else server, run=run)
    from milepost.engine.submit import exchange_named, submitted

    known = submitted(roadmap, exchange_named(roadmap, server, None))
    if known is None:
        return Kept(place=project.store, run=None)
    return Kept(place=server, run=known[0].run, at_workers=known[1])


def server_named(project: Project, server: str | None) -> str:
    """The address of the database that runs are submitted to, by hand or by the settings; empty without one."""
    try:
        return load(project.roadmap.parent, {"database": server}).run.database
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
        raise RunUnknown(f"there is no run {run!r} here", f"the newest are: {known}" if known else "milepost run")
    return found


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An event as one line of `milepost events --json`: its place, the version of the stream, when, and what."""
    return {"seq": entry.seq, "version": EVENTS_VERSION, "at": entry.at, **event_to_json(entry.event)}
