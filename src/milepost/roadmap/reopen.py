"""The boxes that are open again once a task was taken back."""

from __future__ import annotations

from collections.abc import Iterable

from milepost.core.task import Task
from milepost.roadmap.manner import PLAIN, Manner
from milepost.roadmap.marks import marked
from milepost.roadmap.read import survey


def reopened(
    content: bytes, tasks: Iterable[str], *, above: Iterable[str] = (), kept: Iterable[str] = (), manner: Manner = PLAIN
) -> tuple[bytes, tuple[str, ...]]:
    """The roadmap with the boxes of tasks, all below them and the ones `above` open, and the ids of those.

    What is `kept` below a task, because it has a milepost of its own, stays ticked with all below it. Ids that the
    roadmap does not have any more have no box.
    """
    found = survey(content, manner)
    everyone = {one.id: one for top in found.roadmap.tasks for one in top.walk()}
    stays = frozenset(kept)
    wanted = [one.id for task in tasks if task in everyone for one in _walk(everyone[task], stays)]
    wanted += [name for name in above if name in everyone]
    opened = tuple(name for name in dict.fromkeys(wanted) if name in found.marks and found.marks[name].ticked)
    return marked(content, {found.marks[name]: False for name in opened}), opened


def _walk(task: Task, stays: frozenset[str]) -> Iterable[Task]:
    yield task
    for subtask in task.subtasks:
        if subtask.id not in stays:
            yield from _walk(subtask, stays)
