"""A plan as the JSON that `milepost plan --json` prints."""

from __future__ import annotations

from typing import Any

from milepost.core.budget import Allowance
from milepost.core.task import Plan, Problem, Task


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan in lists, strings and numbers."""
    return {
        "tasks": [_task(task) for task in plan.tasks],
        "waves": [list(wave) for wave in plan.waves],
        "problems": [_problem(problem) for problem in plan.problems],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {"line": problem.line, "message": problem.message, **({"fatal": True} if problem.fatal else {})}


def _budget(allowed: Allowance) -> dict[str, float | int]:
    amounts = {
        "usd": allowed.usd,
        "tokens": allowed.tokens,
        "seconds": allowed.seconds,
        "attempts": allowed.attempts,
    }
    return {name: amount for name, amount in amounts.items() if amount is not None}


def _task(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "line": task.line,
        "phase": task.phase,
        "section": task.section,
        "depends_on": list(task.depends_on),
        "files": list(task.files),
        "verify": list(task.verify),
        **({"agent": task.agent} if task.agent else {}),
        **({"tests_may_change": True} if task.tests_may_change else {}),
        **({"changes_nothing": True} if task.changes_nothing else {}),
        **({"only_its_files": True} if task.only_its_files else {}),
        **({"budget": budget} if (budget := _budget(task.budget)) else {}),
        **({"timeout_s": task.timeout_s} if task.timeout_s is not None else {}),
        **({"approve": task.approve} if task.approve else {}),
        **({"needs": list(task.needs)} if task.needs else {}),
        "subtasks": [_task(subtask) for subtask in task.subtasks],
        **({} if task.tickable else {"tickable": False}),
        **({"guess": True} if task.guess else {}),
    }
