"""A plan as the JSON that `milepost plan --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milepost.core.budget import Allowance
from milepost.core.task import Plan, Problem, Task, Wait
from milepost.plan.advice.proposals import Proposal, proposals_for
from milepost.plan.graph.critical_path import critical_path


def to_json(plan: Plan, seconds: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The plan in lists, strings and numbers; `seconds` are what tasks will take, where that is known."""
    return {
        "tasks": [_task(task) for task in plan.tasks],
        "waves": [list(wave) for wave in plan.waves],
        "problems": [_problem(problem) for problem in plan.problems],
        "waits": [_wait(wait) for wait in plan.waits],
        "critical_path": list(critical_path(plan, seconds)),
        "proposals": [_proposal(proposal) for proposal in proposals_for(plan)],
        **({"notes": list(plan.notes)} if plan.notes else {}),
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "line": problem.line,
        "message": problem.message,
        **({"page": problem.page} if problem.page else {}),
        **({"kind": problem.kind} if problem.kind else {}),
        **({"fatal": True} if problem.fatal else {}),
        **({"page": problem.page} if problem.page else {}),
    }


def _wait(wait: Wait) -> dict[str, Any]:
    because = {"because": wait.because} if wait.because else {}
    return {"task": wait.task, "after": wait.after, "why": wait.why, **because}


def _proposal(proposal: Proposal) -> dict[str, Any]:
    parts = [{"title": part.title, "files": list(part.files), "verify": list(part.verify)} for part in proposal.parts]
    return {"task": proposal.task.id, "reasons": list(proposal.reasons), "parts": parts}


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
        **({"page": task.page} if task.page else {}),
        "phase": task.phase,
        "section": task.section,
        "depends_on": list(task.depends_on),
        **({"depends_elsewhere": [str(one) for one in task.waits_elsewhere]} if task.waits_elsewhere else {}),
        "files": list(task.files),
        "verify": list(task.verify),
        **({"verify_hidden": list(task.verify_hidden)} if task.verify_hidden else {}),
        **({"agent": task.agent} if task.agent else {}),
        **({"tests_may_change": True} if task.tests_may_change else {}),
        **({"changes_nothing": True} if task.changes_nothing else {}),
        **({"only_its_files": True} if task.only_its_files else {}),
        **({"keeps_behaviour": True} if task.keeps_behaviour else {}),
        **({"budget": budget} if (budget := _budget(task.budget)) else {}),
        **({"timeout_s": task.timeout_s} if task.timeout_s is not None else {}),
        **({"approve": task.approve} if task.approve else {}),
        **({"needs": list(task.needs)} if task.needs else {}),
        "subtasks": [_task(subtask) for subtask in task.subtasks],
        **({} if task.tickable else {"tickable": False}),
        **({"members": list(task.members)} if task.members else {}),
        **({"guess": True} if task.guess else {}),
    }
