"""Which tasks may start now, and which never will."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.core.task import Plan, Task
from milepost.plan.claims import Claims


def ready(plan: Plan, done: frozenset[str], busy: frozenset[str], ended: frozenset[str]) -> tuple[Task, ...]:
    """The tasks that may start together now, beside those that are `busy`.

    `done` tasks have their milepost; `ended` ones are over without one. Two tasks that change
    the same file are never given together.
    """
    by_id = {task.id: task for task in plan.tasks}
    met = done | {task.id for task in plan.tasks if task.status == "done"}
    claims = Claims()
    for name in busy:
        claims.add(by_id[name].files, 0)
    picked = []
    for task in (by_id[name] for wave in plan.waves for name in wave):
        started = task.id in met or task.id in busy or task.id in ended
        if not started and met.issuperset(task.depends_on) and claims.first_free(task.files, 0) == 0:
            claims.add(task.files, 0)
            picked.append(task)
    return tuple(picked)


def blocked(plan: Plan, failed: frozenset[str]) -> Mapping[str, str]:
    """The tasks that cannot start because of `failed` ones, each with the dependency that it waits for."""
    by_id = {task.id: task for task in plan.tasks}
    waits_for: dict[str, str] = {}
    found = True
    while found:  # a task may wait for one of a later wave, which the plan learnt of on the way
        found = False
        for task in (by_id[name] for wave in plan.waves for name in wave if name not in waits_for):
            lost = next((name for name in task.depends_on if name in failed or name in waits_for), None)
            if lost is not None and task.id not in failed:
                waits_for[task.id] = lost
                found = True
    return waits_for
