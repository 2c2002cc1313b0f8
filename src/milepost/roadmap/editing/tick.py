"""Tasks ticked or unticked: their own boxes change, every other byte stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from milepost.core.errors import TaskUnknown
from milepost.core.same_task import found_again
from milepost.core.task import Task
from milepost.roadmap.reading.box import with_boxes
from milepost.roadmap.reading.options import PLAIN, Manner
from milepost.roadmap.reading.read import Survey, survey


def tick(content: bytes, task_id: str, manner: Manner = PLAIN) -> bytes:
    """The roadmap with the box of a task, and those below it, saying done."""
    return _marked(content, task_id, manner, done=True)


def untick(content: bytes, task_id: str, manner: Manner = PLAIN) -> bytes:
    """The roadmap with the box of a task, and those below it, saying open."""
    return _marked(content, task_id, manner, done=False)


def tick_tasks(
    content: bytes, tasks: Iterable[Task], before: Sequence[Task], manner: Manner
) -> tuple[bytes, list[str]]:
    """The roadmap with these tasks ticked, and what is ticked now by its id; a task that is not in it is left out.

    A task of the roadmap as it was `before` is found again, also under another name; what was not in it goes by its id.
    A task above others is ticked with the last of them, if the manner says so.
    """
    found = survey(content, manner)
    known = [found_again(task, found.roadmap.tasks, before) for task in tasks]
    names = {one.id for task in known if task is not None for one in task.walk()}
    if manner.parents:
        _close(found.roadmap.tasks, names)
    ticked = [name for name in found.boxes if name in names and not found.boxes[name].ticked]
    return with_boxes(content, {found.boxes[name]: True for name in ticked}), ticked


def _marked(content: bytes, task_id: str, manner: Manner, *, done: bool) -> bytes:
    found = survey(content, manner)
    names = [member.id for member in _named(found, task_id).walk()]
    return with_boxes(content, {found.boxes[name]: done for name in names if name in found.boxes})


def _close(tasks: Sequence[Task], names: set[str]) -> None:
    """Add each task above the named ones of which nothing is left to do."""
    for task in tasks:
        _close(task.subtasks, names)
        below = list(_below(task))
        is_done = all(one.id in names or one.status == "done" for one in below)
        if is_done and any(one.id in names for one in below):
            names.add(task.id)


def _below(task: Task) -> Iterator[Task]:
    for subtask in task.subtasks:
        yield from subtask.walk()


def _named(found: Survey, task_id: str) -> Task:
    everyone = (task for top in found.roadmap.tasks for task in top.walk())
    task = next((task for task in everyone if task.id == task_id), None)
    if task is None:
        raise TaskUnknown(
            f"no task of the roadmap has the id {task_id!r}", "milepost plan shows the tasks and their ids"
        )
    return task
