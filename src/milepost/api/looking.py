"""How a run stands and what happened in it, while it is on and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import path_of, whose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from milepost.core.events import Event
    from milepost.engine.budget.costs import Costs
    from milepost.engine.events.live_stream import EventStream
    from milepost.engine.records.journal import Entry
    from milepost.engine.views.run_files import FileText, RunFiles
    from milepost.engine.views.run_plan import RunPlan
    from milepost.engine.views.status import Status
    from milepost.repair.diagnosis.failure_log import FailureStats
    from milepost.workspace.mileposts import Milepost


def status(roadmap: Path | str | None = None, *, database: str | None = None) -> Status | None:
    """The newest run and all that happened in it."""
    from milepost.engine.views import status as look

    return look.status(path_of(roadmap), database)


def events(
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    after: int = 0,
    follow: bool = False,
    printed: bool = False,
    database: str | None = None,
) -> Iterator[Entry]:
    """The events of a run in their order, the newest run unless another is named; `after` is a place in the stream.

    With `follow` they come as they happen, until the run is over; with `printed` also what commands print.
    """
    from milepost.engine.events.follow import events as read_events

    return read_events(path_of(roadmap), run, after, follow=follow, printed=printed, server=database)


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as one line of `milepost run --json`: its kind first."""
    from milepost.engine.records.journal import event_to_json as to_json

    return to_json(event)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An event as one line of `milepost events --json`: its place in the stream, the stream's version, when, what."""
    from milepost.engine.events.follow import entry_to_json as to_json

    return to_json(entry)


def open_stream(roadmap: Path | str | None = None, *, database: str | None = None) -> EventStream:
    """The events of all runs for who stays and reads on, also from before the first run; close it in the end."""
    from milepost.engine.events.live_stream import open_stream as open_it

    return open_it(path_of(roadmap), database)


def state_folder(roadmap: Path | str | None = None) -> Path:
    """The state directory of a roadmap, which is made where it is not there yet."""
    from milepost.engine.project.project import Project
    from milepost.engine.project.state_lock import make_state

    state = Project.find(path_of(roadmap)).state
    make_state(state)
    return state


def run_plan(run: str | None = None, roadmap: Path | str | None = None, *, database: str | None = None) -> RunPlan:
    """The tasks of the roadmap as it is now, as a run sees them; those of the run that are gone from it are there, too.

    The newest run is meant unless another is named; where nothing was run yet, it is the roadmap alone.
    """
    from milepost.engine.views.run_plan import run_plan as look

    return look(whose(roadmap, run, database))


def run_files(run: str | None = None, roadmap: Path | str | None = None, *, database: str | None = None) -> RunFiles:
    """The files of a run's branch, with what the run changed; the newest run unless another is named."""
    from milepost.engine.views.run_files import run_files as look

    return look(whose(roadmap, run, database))


def file_at(
    run: str | None, path: str, roadmap: Path | str | None = None, *, database: str | None = None
) -> FileText | None:
    """One file of a run's branch as it is now, from git's objects; None where there is none of this name."""
    from milepost.engine.views.run_files import file_at as look

    return look(whose(roadmap, run, database), path)


def costs(roadmap: Path | str | None = None, *, run: str | None = None, database: str | None = None) -> Costs | None:
    """What a run cost, by task, model and agent: the newest unless one is named; None where nothing was run."""
    from milepost.engine.budget.costs import costs as add_up

    return add_up(path_of(roadmap), run, database)


def failures(roadmap: Path | str | None = None) -> tuple[FailureStats, ...]:
    """What failed here, most often first, and what mended it."""
    from milepost.engine.views import status as look

    return look.failures(path_of(roadmap))


def log(roadmap: Path | str | None = None) -> tuple[Milepost, ...]:
    """The mileposts, newest first."""
    from milepost.engine.views import status as look

    return look.log(path_of(roadmap))
