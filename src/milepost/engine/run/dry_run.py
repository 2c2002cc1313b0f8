"""What a run would do: all that `start.run` does up to where it would begin to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.events import TaskFinished
from milepost.core.ports import Agent
from milepost.engine.gates import unfinished_run
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.run_request import NothingToDo, RunRequest
from milepost.engine.run import prepare, start


def preview(wish: RunRequest, agents: Mapping[str, Agent]) -> tuple[str, ...] | NothingToDo:
    """The tasks that a run would work on; refuses what a run refuses, and changes nothing."""
    project = Project.find(wish.roadmap)
    settings = load(project.roadmap.parent, start.flags_of(wish), uses=EVERYTHING)
    start.refuse_busy(project)
    interrupted = None if wish.new else unfinished_run.unfinished(project)
    if interrupted is not None:
        unfinished_run.refuse_elsewhere(project, interrupted)
        start.refuse_other(interrupted, wish)
        return _still_to_do(project, interrupted)
    drafted = prepare.draft(project, settings, wish, agents)
    if isinstance(drafted, NothingToDo):
        return drafted
    with TemporaryDirectory() as own, Journal.look(project.database) as journal:
        elsewhere = replace(project, state=Path(own))  # the engine's git wants a folder of its own
        order = prepare.order(elsewhere, settings, drafted, journal)
    return order if isinstance(order, NothingToDo) else order.tasks


def _still_to_do(project: Project, record: RunRecord) -> tuple[str, ...]:
    """The tasks of an interrupted run that are not over."""
    with Journal.look(project.database) as journal:
        events = [entry.event for entry in journal.events(record.run)]
    over = {event.task for event in events if isinstance(event, TaskFinished)}
    return tuple(task for task in record.order["tasks"] if task not in over)
