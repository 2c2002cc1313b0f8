"""A plan that changes while it is followed: a task that must wait after all, a task that is done in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from milepost.core.task import Plan, Task


def waiting_for(plan: Plan, task: str, other: str) -> Plan:
    """The plan in which a task waits for another one, too."""
    return _with(plan, task, (other,))


def with_parts(plan: Plan, task: str, parts: tuple[Task, ...]) -> Plan:
    """The plan in which a task waits for parts of it, which are tasks of their own."""
    names = tuple(part.id for part in parts)
    known = {one.id for one in plan.tasks}
    added = tuple(part for part in parts if part.id not in known)
    widened = replace(plan, tasks=(*plan.tasks, *added), waves=(*plan.waves, tuple(part.id for part in added)))
    return _with(widened, task, names)


def with_task(plan: Plan, task: Task) -> Plan:
    """The plan in which a task is as it is given here."""
    return replace(plan, tasks=tuple(task if one.id == task.id else one for one in plan.tasks))


def _with(plan: Plan, task: str, others: tuple[str, ...]) -> Plan:
    def wider(one: Task) -> Task:
        return replace(one, depends_on=tuple(dict.fromkeys((*one.depends_on, *others)))) if one.id == task else one

    return replace(plan, tasks=tuple(map(wider, plan.tasks)))


def claiming(plan: Plan, observed: Mapping[str, tuple[str, ...]]) -> Plan:
    """The plan in which tasks also claim the files that attempts at them were seen to change."""

    def wider(one: Task) -> Task:
        more = observed.get(one.id, ())
        return replace(one, files=tuple(dict.fromkeys((*one.files, *more)))) if more else one

    return replace(plan, tasks=tuple(map(wider, plan.tasks))) if observed else plan
