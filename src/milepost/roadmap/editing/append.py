"""A task put at the end of a roadmap: every byte before it stays, and every task before it is read as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from milepost.core.errors import EditRefused, RoadmapUnreadable
from milepost.core.task import Task
from milepost.roadmap.editing.task_source import usual_end
from milepost.roadmap.reading.options import PLAIN, Manner
from milepost.roadmap.reading.read import read
from milepost.roadmap.writing.safe_words import tamed
from milepost.roadmap.writing.write import task_lines

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)


def free_id(content: bytes, letters: str, manner: Manner = PLAIN) -> str:
    """The first id of these letters and a number that no task has."""
    taken = {one.id.casefold() for top in read(content, manner).tasks for one in top.walk()}
    number = 1
    while f"{letters}-{number}".casefold() in taken:
        number += 1
    return f"{letters}-{number}"


def appended(content: bytes, task: Task, heading: str, manner: Manner = PLAIN) -> bytes:
    """The roadmap with one task more at its end, below a heading; refused unless all others are read as they were."""
    before = read(content, manner)
    if before.dialect != "boxes":
        raise EditRefused(
            f"the roadmap is of the kind {before.dialect}, and a task is appended only to one with boxes",
            "write the task into it by hand",
        )
    end, task = usual_end(content).decode(), tamed(task)
    text = content.decode("utf-8", "replace")
    headings = _HEADING.findall(text)
    above = () if headings and headings[-1].strip() == f"## {heading}" else (f"## {heading}", "")
    between = "" if not text or text.endswith(("\n\n", "\r\n\r\n")) else end if text.endswith(("\n", "\r")) else 2 * end
    after = content + (between + end.join((*above, *task_lines(task))).rstrip() + end).encode()
    try:
        found = read(after, manner)
    except RoadmapUnreadable as unreadable:
        raise EditRefused(f"the roadmap could not be read any more: {unreadable.message}", "") from unreadable
    others, new = found.tasks[: len(before.tasks)], found.tasks[len(before.tasks) :]
    wanted = [(task.id, task.title, task.verify, "open")]
    is_read = [(one.id, one.title, one.verify, one.status) for one in new] == wanted
    if _own(others) != _own(before.tasks) or found.dialect != before.dialect or not is_read:
        raise EditRefused(
            "a task at the end of the roadmap would not be read as one of its own",
            "look at how the file ends, such as in a block of code",
        )
    return after


def _own(tasks: Sequence[Task]) -> list[Task]:
    """What tasks say themselves: words that stood at the end of the roadmap are no longer around the last of them."""
    return [replace(one, context="", subtasks=()) for top in tasks for one in top.walk()]
