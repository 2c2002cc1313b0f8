"""A box ticked or unticked: one byte a box, every other byte as it was."""

from __future__ import annotations

from milepost.core.errors import TaskUnknown
from milepost.core.task import Task
from milepost.roadmap.read import survey


def tick(content: bytes, task_id: str) -> bytes:
    """The roadmap with the box of a task, and the open boxes below it, ticked."""
    return _marked(content, task_id, ticked=True)


def untick(content: bytes, task_id: str) -> bytes:
    """The roadmap with the box of a task, and the ticked boxes below it, open."""
    return _marked(content, task_id, ticked=False)


def _marked(content: bytes, task_id: str, *, ticked: bool) -> bytes:
    found = survey(content)
    task = _find(found.roadmap.tasks, task_id)
    marked = bytearray(content)
    for member in task.walk():
        box = found.boxes[member.id]
        if box.ticked != ticked:
            marked[box.offset] = ord("x") if ticked else ord(" ")
    return bytes(marked)


def _find(tasks: tuple[Task, ...], task_id: str) -> Task:
    for top in tasks:
        for task in top.walk():
            if task.id == task_id:
                return task
    raise TaskUnknown(f"no task of the roadmap has the id {task_id!r}", "milepost plan shows the tasks and their ids")
