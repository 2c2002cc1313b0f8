"""How a problem is put: where it is, in a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.task import Problem, Task

SHOWN = 4
LONGEST_TITLE = 60


def problem_of(task: Task, message: str, kind: str) -> Problem:
    """A problem on the line of a task."""
    return Problem(line=task.line, message=message, page=task.page, kind=kind)


def called(task: Task) -> str:
    """A task as it is spoken of: its id, and its title in short."""
    title = task.title if len(task.title) <= LONGEST_TITLE else f"{task.title[: LONGEST_TITLE - 1].rstrip()}…"
    return f'{task.id} "{title}"'


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, c, d and 3 more`."""
    if len(names) == 1:
        return names[0]
    if len(names) > SHOWN:
        return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
