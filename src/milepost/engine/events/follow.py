"""The stream of a run's events, with their places in it, for whoever follows from outside. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from milepost.core.events import EVENTS_VERSION
from milepost.engine.records.journal import Entry, Journal, event_to_json
from milepost.engine.records.locate import find_run, where_kept


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


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An event as one line of `milepost events --json`: its place, the version of the stream, when, and what."""
    return {"seq": entry.seq, "version": EVENTS_VERSION, "at": entry.at, **event_to_json(entry.event)}
