"""How a roadmap is read, line by line, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, counted, safe
from milepost.cli.named_roadmap import proposed

if TYPE_CHECKING:
    from milepost import Plan, Task
    from milepost.plans import Remark
    from milepost.roadmaps import Explanation

DIALECTS = {
    "boxes": "a task list",
    "emoji": "an emoji list",
    "table": "a status table",
    "words": "a list with status words",
    "todo.txt": "a todo.txt",
    "bullets": "plain lists",
    "backlog": "a folder of task files",
    "task-master": "a task-master tasks.json",
}


def guessed(plan: Plan) -> list[str]:
    """What the head of a plan says where tasks were taken by a rule of thumb; nothing where none was."""
    if not any(task.guess for task in plan.tasks):
        return []
    return [f"read as {DIALECTS[plan.dialect]} (a guess: {proposed('milepost plan --explain')})"]


def explain_lines(told: Explanation, plan: Plan, name: str, width: int) -> list[str]:
    """The dialect and why it was chosen, then a line for each line that is or could be a task."""
    tasks = {(task.page, task.line): task for top in plan.tasks for task in top.walk()}
    taken = sum(remark.taken for remark in told.remarks)
    head = f"{safe(name)} is read as {DIALECTS[told.dialect]}: {told.why}"
    if not taken:
        head = f"{safe(name)} has no task: {told.why}"
    lines = [head, f"{counted(taken, 'line')} read as tasks, {len(told.remarks) - taken} not", ""]
    digits = max((len(str(remark.line)) for remark in told.remarks), default=1)
    room = max(width, 72)
    page = ""
    for remark in told.remarks:
        if remark.page != page:
            page = remark.page
            lines.append(clipped(page, room))
        task = tasks.get((remark.page, remark.line)) if remark.taken else None
        lead = f"line {remark.line:>{digits}}  {'task' if remark.taken else '–':<5}  "
        lines.append(clipped(f"{lead}{_named(task, remark.why, room - len(lead))}", room))
    return lines


def explain_to_json(told: Explanation) -> dict[str, Any]:
    """What `plan --json --explain` adds."""
    lines = [_remark_to_json(remark) for remark in told.remarks]
    return {"explain": {"dialect": told.dialect, "why": told.why, "lines": lines}}


def _remark_to_json(remark: Remark) -> dict[str, Any]:
    page = {"page": remark.page} if remark.page else {}
    return {"line": remark.line, "taken": remark.taken, "why": remark.why, **page}


def _named(task: Task | None, why: str, room: int) -> str:
    """The task and why it is one; a long title gives way to the reason."""
    from rich.cells import cell_len

    if task is None:
        return why
    left = room - cell_len(task.id) - cell_len(why) - 5
    return f'{task.id} "{clipped(task.title, max(16, left))}": {why}'
