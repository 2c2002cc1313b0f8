"""What is one attempt: a task with all below it, or each of the innermost open boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from milepost.core.task import Task, Wait
from milepost.plan.graph.leaves import leaves_of
from milepost.plan.options import Unit


def units_of(tasks: Sequence[Task], unit: Unit) -> tuple[tuple[Task, ...], tuple[Wait, ...]]:
    """The tasks that attempts are made at, in the order of the file, and what comes after what to be proven."""
    if unit == "subtask":
        return leaves_of(tasks)
    return tuple(map(_with_subtasks, tasks)), ()


def _with_subtasks(task: Task) -> Task:
    """The task with the files, checks and dependencies of its subtasks added to its own, in the order of the file."""
    members = tuple(task.walk())
    return replace(
        task,
        files=union(member.files for member in members),
        verify=union(member.verify for member in members),
        verify_hidden=union(member.verify_hidden for member in members),
        depends_on=union(member.depends_on for member in members),
    )


def union(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The names of all groups, each once, in the order they are come to."""
    return tuple(dict.fromkeys(name for group in groups for name in group))
