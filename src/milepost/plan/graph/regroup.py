"""The groups of a run that is on: none is made anew, and they lose members only before they begin. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace

from milepost.core.task import Plan, Task
from milepost.plan.graph.groups import as_one, is_small, on_circles, with_leaders
from milepost.plan.graph.waits import led, without_circles

Groups = Mapping[str, tuple[str, ...]]


def groups_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The members of each group, by its leader."""
    return {task.id: task.members for task in plan.tasks if task.members}


def kept(groups: Groups, roadmap: Plan, *, begun: Collection[str], gone: Collection[str] = ()) -> Groups:
    """What is left of groups: those that began as they were, of the others who is still open and still may share.

    One that lost its leader, or that a task stands in the middle of now, is none any more.
    """
    apt = {task.id for task in roadmap.tasks if task.status == "open" and task.id not in gone and is_small(task)}
    left: dict[str, tuple[str, ...]] = {}
    for leader, members in groups.items():
        still = members if leader in begun else tuple(name for name in members if name in apt)
        if still and (leader in begun or leader in apt):
            left[leader] = still
    started = {name for leader in begun for name in (leader, *groups.get(leader, ()))}
    ahead = [
        replace(task, depends_on=()) if task.id in started else task for task in roadmap.tasks if task.status == "open"
    ]
    while stuck := on_circles(ahead, _leader_of(left)) & (left.keys() - set(begun)):
        left = {leader: members for leader, members in left.items() if leader not in stuck}
    return left


def gathered(roadmap: Plan, groups: Groups) -> Plan:
    """The plan of a roadmap that was made without groups, with these."""
    if not groups:
        return roadmap
    by_id = {task.id: task for task in roadmap.tasks}
    leader_of = _leader_of(groups)
    leaders = {
        leader: as_one([by_id[name] for name in (leader, *members) if name in by_id])
        for leader, members in groups.items()
        if leader in by_id
    }
    tasks = tuple(with_leaders(leaders.get(task.id, task), leader_of) for task in roadmap.tasks)
    stated = {task.id: [name for name in task.depends_on if name in by_id] for task in tasks}
    return replace(roadmap, tasks=tasks, waits=without_circles(led(roadmap.waits, leader_of), stated))


def carried(plan: Plan, before: Plan, after: Plan, names: Collection[str]) -> Plan:
    """The plan of a run with what became another in its roadmap, for tasks of these names.

    What the run made of a task besides stays. Who was in a group and is in none now is worked on by itself.
    """
    own, old, new = ({task.id: task for task in one.tasks} for one in (plan, before, after))
    followed = {name: _edited(own[name], old[name], new[name]) for name in names if name in old and name in new}
    changed = replace(plan, tasks=tuple(followed.get(task.id, task) for task in plan.tasks), waits=after.waits)
    return replace(changed, waves=_longer(plan.waves, parted(plan, changed)))


def with_more(plan: Plan, tasks: tuple[Task, ...]) -> Plan:
    """The plan with tasks that came to the roadmap, maybe once more, each by itself."""
    known = {task.id for task in plan.tasks}
    given = {task.id: task for task in tasks}
    there = tuple(given.get(task.id, task) for task in plan.tasks)
    more = tuple(task for task in tasks if task.id not in known)
    return replace(plan, tasks=(*there, *more), waves=_longer(plan.waves, tuple(given)))


def without(plan: Plan, roadmap: Plan, name: str, *, begun: Collection[str]) -> Plan:
    """The plan in which a task is in no group any more."""
    groups = groups_of(plan)
    left = kept(groups, roadmap, begun=begun, gone=(name,))
    return _regrouped(plan, roadmap, groups, left) if left != groups else plan


def dissolved(plan: Plan, roadmap: Plan, leader: str) -> Plan:
    """The plan in which each task of a group is worked on by itself."""
    groups = groups_of(plan)
    apart = _regrouped(plan, roadmap, groups, {name: groups[name] for name in groups if name != leader})
    # A leader that is off the roadmap by now leads nobody either.
    tasks = tuple(replace(task, members=()) if task.id == leader else task for task in apart.tasks)
    return replace(apart, tasks=tasks, waves=_longer(apart.waves, groups[leader]))


def parted(before: Plan, after: Plan) -> tuple[str, ...]:
    """The tasks that were members of a group and are not any more."""
    led_still = _leader_of(groups_of(after))
    return tuple(name for members in groups_of(before).values() for name in members if name not in led_still)


def _regrouped(plan: Plan, roadmap: Plan, groups: Groups, left: Groups) -> Plan:
    before, after = gathered(roadmap, groups), gathered(roadmap, left)
    names = {task.id for task in plan.tasks} & {
        new.id for old, new in zip(before.tasks, after.tasks, strict=True) if old != new
    }
    return carried(plan, before, after, names)


def _leader_of(groups: Groups) -> dict[str, str]:
    return {name: leader for leader, members in groups.items() for name in (leader, *members)}


def _longer(waves: tuple[tuple[str, ...], ...], names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    there = {name for wave in waves for name in wave}
    last = tuple(name for name in names if name not in there)
    return (*waves, last) if last else waves


def _edited(task: Task, before: Task, after: Task) -> Task:
    """The task with what its author changed; what the run made of it besides stays."""
    names = [field.name for field in fields(Task) if getattr(before, field.name) != getattr(after, field.name)]
    found = replace(task, **{name: getattr(after, name) for name in names if name != "depends_on"})
    learnt = (name for name in task.depends_on if name not in before.depends_on)
    return replace(found, depends_on=tuple(dict.fromkeys((*after.depends_on, *learnt))))
