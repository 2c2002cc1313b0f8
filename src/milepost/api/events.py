"""The events of runs: read them, follow them, convert them to JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from milepost.core.events import Event
    from milepost.engine.events.live_stream import EventStream
    from milepost.engine.records.journal import Entry


def read(
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    after: int = 0,
    follow: bool = False,
    printed: bool = False,
    database: str | None = None,
) -> Iterator[Entry]:
    """The events of a run in order, of the newest run unless one is named; `after` is a position in the stream.

    `follow` yields them as they happen, until the run is finished; `printed` adds what commands print.
    """
    from milepost.engine.events.follow import events

    return events(path_of(roadmap), run, after, follow=follow, printed=printed, server=database)


def to_json(event: Event) -> dict[str, Any]:
    """An event as one line of `milepost run --json`: its kind first."""
    from milepost.engine.records.journal import event_to_json

    return event_to_json(event)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An entry as one line of `milepost events --json`: position, version of the stream, time, event."""
    from milepost.engine.events.follow import entry_to_json as to_line

    return to_line(entry)


def open_stream(roadmap: Path | str | None = None, *, database: str | None = None) -> EventStream:
    """The events of all runs for a long-lived reader, even before the first run; close it when done."""
    from milepost.engine.events.live_stream import open_stream as open_it

    return open_it(path_of(roadmap), database)
