"""What a run is asked for from outside while it is on: kept where its parent looks for it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from milepost.core.errors import NothingToSteer, RunUnfinished
from milepost.engine.project.project import Project
from milepost.engine.records.call_log import NOTED_BUDGET, AttemptKey, CallLog
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.records.steering import Request, Steering
from milepost.store.database import open_database

Place = Path | str


def ask(place: Place, run: str, request: Request) -> None:
    """Ask something of a run, in the database that it keeps."""
    with closing(open_database(place)) as database:
        Steering(database, run, lambda: None).ask(request)


def paused(place: Place, run: str) -> bool:
    """Whether a run was asked to pause, and not to go on since."""
    with closing(open_database(place)) as database:
        return Steering(database, run, lambda: None).paused


def within_new_wall(place: Place, order: RunSpec, budget_usd: float | None) -> RunSpec:
    """The order with the budget that was given last: at its start, or when it was resumed."""
    with closing(open_database(place)) as database:
        calls, run = CallLog(database), AttemptKey(run=order.run, task="", attempt=0)
        if budget_usd is not None:
            calls.note(run, NOTED_BUDGET, budget_usd)
        given = calls.noted(run, NOTED_BUDGET)
    return order if given is None else replace(order, budget=replace(order.budget, usd=given))


def unfinished(project: Project) -> RunRecord | None:
    """The newest run, when it was interrupted."""
    with Journal.look(project.database) as journal:
        newest = next(iter(journal.runs()), None)
    return newest if newest is not None and newest.unfinished else None


def refuse_elsewhere(project: Project, record: RunRecord) -> None:
    """Raise when a run is another roadmap's of the same folder: one run is under way there at a time."""
    other = record.order.get("roadmap", project.roadmap_in_tree)
    if other != project.roadmap_in_tree and (path := project.repository.top / other).exists():
        raise RunUnfinished(
            f"run {record.run} is unfinished, and it belongs to {other}",
            f"milepost resume {path} continues it; milepost run --new abandons it and starts another",
        )


def require_meant(project: Project, found: RunRecord | None, meant: str | None) -> None:
    """Raise unless the run that would go on is the one that is meant."""
    if meant is None or (found is not None and found.run == meant.lower()):
        return
    with Journal.look(project.database) as journal:
        record = next((one for one in journal.runs() if one.run == meant.lower()), None)
    if record is None:
        why = "there is no such run here"
    else:
        why = "it was abandoned" if record.left_at is not None else "it is finished"
    able = "milepost status shows the latest" if found is None else f"milepost resume continues run {found.run}"
    raise NothingToSteer(f"run {meant} cannot continue: {why}", able)
