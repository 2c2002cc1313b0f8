"""The stream of a run's events, with their places in it, for whoever follows from outside. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from milepost.core.errors import RunUnknown
from milepost.core.events import EVENTS_VERSION
from milepost.engine.journal import Entry, Journal, RunRecord, event_to_json
from milepost.engine.project import Project


def events(roadmap: Path | None, run: str | None = None, after: int = 0, *, follow: bool = False) -> Iterator[Entry]:
    """The events of a run that come after a place in the stream; `follow` waits for more until the run is over.

    The newest run is meant unless another is named; nothing comes where nothing was run yet.
    """
    project = Project.find(roadmap)
    with Journal.look(project.store) as journal:
        record = find_run(journal, run)
        if record is not None:
            yield from journal.follow(record.run, after) if follow else journal.events(record.run, after)


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
