"""A task ticked or unticked: its own marks change, every other byte stays as it was."""

from __future__ import annotations

from milepost.core.errors import TaskUnknown
from milepost.core.task import Task
from milepost.roadmap.manner import PLAIN, Manner
from milepost.roadmap.marks import marked
from milepost.roadmap.read import survey


def tick(content: bytes, task_id: str, manner: Manner = PLAIN) -> bytes:
    """The roadmap with the mark of a task, and those below it, saying done."""
    return _marked(content, task_id, manner, done=True)


def untick(content: bytes, task_id: str, manner: Manner = PLAIN) -> bytes:
    """The roadmap with the mark of a task, and those below it, saying open."""
    return _marked(content, task_id, manner, done=False)


def _marked(content: bytes, task_id: str, manner: Manner, *, done: bool) -> bytes:
    found = survey(content, manner)
    task = _find(found.roadmap.tasks, task_id)
    names = (member.id for member in task.walk())
    return marked(content, {found.marks[name]: done for name in names if name in found.marks})


def _find(tasks: tuple[Task, ...], task_id: str) -> Task:
    for top in tasks:
        for task in top.walk():
            if task.id == task_id:
                return task
    raise TaskUnknown(f"no task of the roadmap has the id {task_id!r}", "milepost plan shows the tasks and their ids")
