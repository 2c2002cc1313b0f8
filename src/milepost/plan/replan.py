"""A roadmap that is edited while it is worked on: what that means for the tasks of a run. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

from milepost.core.likeness import found_again
from milepost.core.task import Plan, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The plan as it is to be followed now, and what is another than before.

    `late` are tasks that were edited after work on them began, or whose group would be another one now: that goes on
    with the text it began with. `renamed` are tasks that the roadmap calls otherwise now, each with its new name; the
    run goes on calling them as before, and `seen` is the edited roadmap in these words.
    """

    plan: Plan
    seen: Plan
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def follow(plan: Plan, seen: Plan, new: Plan, *, begun: frozenset[str], wanted: tuple[str, ...]) -> Edit:
    """What an edited roadmap changes for a run that wants some tasks and has begun others.

    `seen` is the roadmap as it was read last, `plan` what the run has made of it since: its parts, its other agents.
    """
    renamed = _renamed(seen, new)
    new = _called_as_before(new, {now: name for name, now in renamed.items()})
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
    added = _added(new, before, regrouped, dropped)
    followed = {name: _edited(plan.task(name), before[name], after[name]) for name in changed}
    followed |= {name: replace(plan.task(name), status="done") for name in dropped if name in after}
    followed |= {name: after[name] for name in added}
    known = {task.id for task in plan.tasks}
    tasks = tuple(followed.get(task.id, task) for task in plan.tasks)
    more = tuple(after[name] for name in added if name not in known)
    there = {name for wave in plan.waves for name in wave}
    last = tuple(name for name in added if name not in there)
    waves = (*plan.waves, last) if last else plan.waves
    return Edit(
        seen=new,
        renamed=tuple((name, now) for name, now in renamed.items() if name in wanted),
        plan=replace(plan, tasks=(*tasks, *more), waves=waves, waits=new.waits),
        added=added,
        dropped=dropped,
        changed=changed,
        late=late,
    )


def _added(
    new: Plan, before: Mapping[str, Task], regrouped: Collection[str], dropped: Collection[str]
) -> tuple[str, ...]:
    """The tasks that are new, or that were done with one that is dropped; no group that is as it was takes them in."""
    freed = {name for leader in dropped for name in before[leader].members}
    started = (name for wave in new.waves for name in wave if name not in before or name in freed)
    joined = (name for task in new.tasks if task.id in regrouped for name in task.members if name not in before)
    return tuple(dict.fromkeys((*started, *joined)))


def _renamed(seen: Plan, new: Plan) -> dict[str, str]:
    """The tasks that are still on the roadmap under another id, by the one they had."""
    known, now = {task.id for task in seen.tasks}, {task.id for task in new.tasks}
    added = [replace(task, subtasks=()) for task in new.tasks if task.id not in known]
    found: dict[str, str] = {}
    for task in seen.tasks if added else ():
        if task.id not in now:
            again = found_again(task, [one for one in added if one.id not in found.values()], seen.tasks)
            found |= {task.id: again.id} if again is not None else {}
    return found


def _called_as_before(plan: Plan, names: Mapping[str, str]) -> Plan:
    """The plan in which tasks go by other ids."""
    if not names:
        return plan

    def called(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(one, one) for one in ids)

    return replace(
        plan,
        tasks=tuple(
            replace(
                task,
                id=names.get(task.id, task.id),
                depends_on=called(task.depends_on),
                members=called(task.members),
            )
            for task in plan.tasks
        ),
        waves=tuple(map(called, plan.waves)),
        waits=tuple(
            replace(wait, task=names.get(wait.task, wait.task), after=names.get(wait.after, wait.after))
            for wait in plan.waits
        ),
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
