"""A roadmap that is edited while it is worked on: what that means for the tasks of a run. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from milepost.core.task import Plan, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The plan as it is to be followed now, and what is another than before.

    `late` are tasks that were edited after work on them began, or whose group would be another one now: that goes on
    with the text it began with.
    """

    plan: Plan
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


def follow(plan: Plan, seen: Plan, new: Plan, *, begun: frozenset[str], wanted: tuple[str, ...]) -> Edit:
    """What an edited roadmap changes for a run that wants some tasks and has begun others.

    `seen` is the roadmap as it was read last, `plan` what the run has made of it since: its parts, its other agents.
    """
    before = {task.id: task for task in seen.tasks}
    after = {task.id: task for task in new.tasks}
    waiting = [name for name in wanted if name not in begun and name in before]
    dropped = tuple(name for name in waiting if name not in after or after[name].status == "done")
    kept = [name for name in waiting if name in after and after[name].status == "open"]
    # A group that an edit would make anew is done as it was: else a task could be done twice, or by nobody.
    regrouped = {name for name in before if name in after and before[name].members != after[name].members}
    changed = tuple(name for name in kept if name not in regrouped and _meant(before[name]) != _meant(after[name]))
    late = tuple(
        name
        for name in wanted
        if name in before
        and (
            (name in begun and (name not in after or _meant(before[name]) != _meant(after[name])))
            or (name in kept and name in regrouped)
        )
    )
    added = tuple(name for wave in new.waves for name in wave if name not in before)
    followed = {name: _edited(plan.task(name), before[name], after[name]) for name in changed}
    followed |= {name: replace(plan.task(name), status="done") for name in dropped if name in after}
    followed |= {name: after[name] for name in added}
    known = {task.id for task in plan.tasks}
    tasks = tuple(followed.get(task.id, task) for task in plan.tasks)
    more = tuple(after[name] for name in added if name not in known)
    waves = (*plan.waves, tuple(task.id for task in more)) if more else plan.waves
    return Edit(
        plan=replace(plan, tasks=(*tasks, *more), waves=waves, waits=new.waits),
        added=added,
        dropped=dropped,
        changed=changed,
        late=late,
    )


def _edited(task: Task, before: Task, after: Task) -> Task:
    """The task with what its author changed; what the run made of it besides stays."""
    names = [field.name for field in fields(Task) if getattr(before, field.name) != getattr(after, field.name)]
    found = replace(task, **{name: getattr(after, name) for name in names if name != "depends_on"})
    learnt = (name for name in task.depends_on if name not in before.depends_on)
    return replace(found, depends_on=tuple(dict.fromkeys((*after.depends_on, *learnt))))


def _meant(task: Task) -> Task:
    """What a task asks for, wherever it stands and whether or not it is ticked."""
    return replace(task, line=0, status="open", subtasks=tuple(_meant(part) for part in task.subtasks))
