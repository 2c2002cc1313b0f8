"""What is worth a look in open tasks before money is spent on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from milepost.core.task import Problem, Task

_SHOWN = 4


def lint(tasks: Sequence[Task]) -> Iterator[Problem]:
    """The oddities of tasks whose files and checks include those of their subtasks; none is fatal."""
    open_tasks = [task for task in tasks if task.status == "open"]
    yield from _without_verify(open_tasks)
    yield from _sharing_files(open_tasks)
    yield from _ticked_too_early(tasks)


def _without_verify(tasks: Sequence[Task]) -> Iterator[Problem]:
    for task in tasks:
        if not task.verify and not task.agent.startswith("pattern:"):
            message = f'{task.id} "{task.title}" has no Verify: it ends unverified unless it makes a failing test pass'
            yield Problem(line=task.line, message=message)


def _sharing_files(tasks: Sequence[Task]) -> Iterator[Problem]:
    """One problem a group of tasks that change the same files without waiting for one another."""
    changing: dict[str, list[Task]] = {}
    for task in tasks:
        for file in task.files:
            changing.setdefault(file, []).append(task)
    groups: dict[tuple[str, ...], tuple[list[Task], list[str]]] = {}
    for file, group in changing.items():
        if len(group) > 1 and not _is_chain(group):
            groups.setdefault(tuple(task.id for task in group), (group, []))[1].append(file)
    for group, files in groups.values():
        names = [task.id for task in group]
        both = "both" if len(names) == 2 else "all"
        message = f"{_listed(names)} {both} change {_listed(files)}: they will not run at the same time"
        yield Problem(line=group[1].line, message=message)


def _is_chain(group: Sequence[Task]) -> bool:
    return all(before.id in after.depends_on or after.id in before.depends_on for before, after in pairwise(group))


def _ticked_too_early(tasks: Sequence[Task]) -> Iterator[Problem]:
    for task in tasks:
        left = [subtask for subtask in task.walk() if subtask.status == "open"]
        if task.status == "done" and left:
            message = f'{task.id} is ticked, so "{left[0].title}" below it will not be worked on'
            yield Problem(line=left[0].line, message=message)


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
