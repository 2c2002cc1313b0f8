"""The boxes that are open again once a task was taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from milepost.core.task import Task
from milepost.roadmap.reading.box import Box, with_boxes
from milepost.roadmap.reading.options import PLAIN, Manner
from milepost.roadmap.reading.read import survey


def open_boxes(content: bytes, manner: Manner = PLAIN) -> dict[str, Box]:
    """The boxes that are open, by the ids of their tasks."""
    return {name: box for name, box in survey(content, manner).boxes.items() if not box.ticked}


def reopened(
    content: bytes,
    tasks: Iterable[str],
    *,
    above: Iterable[str] = (),
    kept: Iterable[str] = (),
    before: Mapping[str, Box] | None = None,
    manner: Manner = PLAIN,
) -> tuple[bytes, tuple[str, ...]]:
    """The roadmap with the boxes of tasks, all below them and the ones `above` open, and the ids of those.

    What is `kept` below a task, because it has a milepost of its own, stays ticked with all below it. `before` are the
    boxes that were open before they were ticked: others were ticked by somebody else, and stay so. Ids that the roadmap
    does not have any more have no box.
    """
    found = survey(content, manner)
    everyone = {one.id: one for top in found.roadmap.tasks for one in top.walk()}
    stays = frozenset(kept)
    tasks = tuple(tasks)
    wanted = [one.id for task in tasks if task in everyone for one in _walk(everyone[task], stays)]
    wanted += [name for name in above if name in everyone]
    may_open = everyone.keys() if before is None else {*tasks, *before}
    ticked = (name for name in dict.fromkeys(wanted) if name in found.boxes and found.boxes[name].ticked)
    opened = tuple(name for name in ticked if name in may_open)
    boxes = {name: _opening(box, (before or {}).get(name)) for name, box in found.boxes.items()}
    return with_boxes(content, {boxes[name]: False for name in opened}), opened


def _opening(box: Box, before: Box | None) -> Box:
    """A box that is opened to what it was, where that is known: signs for open differ, and the last one is gone."""
    if before is None or not box.written.startswith(before.done):
        return box
    return replace(box, undone=before.written + box.written[len(before.done) :])


def _walk(task: Task, stays: frozenset[str]) -> Iterable[Task]:
    yield task
    for subtask in task.subtasks:
        if subtask.id not in stays:
            yield from _walk(subtask, stays)
