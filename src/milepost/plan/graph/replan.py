"""A roadmap that is edited while it is worked on: what that means for the tasks of a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from milepost.core.same_task import found_again
from milepost.core.task import Plan, Task
from milepost.plan.graph.regroup import carried, gathered, groups_of, kept, with_more


@dataclass(frozen=True, slots=True, kw_only=True)
class Replanned:
    """The plan as it is to be followed now, and what is another than before.

    `late` are tasks that were edited after work on them began: that goes on with the text it began with.
    `renamed` are tasks that the roadmap calls otherwise now, each with its new name; the run goes on calling them as
    before, and `seen` is the edited roadmap in these words.
    """

    plan: Plan
    seen: Plan
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def follow(plan: Plan, seen: Plan, new: Plan, *, begun: frozenset[str], wanted: tuple[str, ...]) -> Replanned:
    """What an edited roadmap changes for a run that wants some tasks and has begun others.

    `seen` is the roadmap as it was read last, `plan` what the run has made of it since: its groups, its parts, its
    other agents. Both roadmaps are planned without groups: what comes new is done by itself.
    """
    renamed = _renamed(seen, new)
    new = _called_as_before(new, {now: name for name, now in renamed.items()})
    groups = groups_of(plan)
    before = {task.id: task for task in seen.tasks}
    after = {task.id: task for task in new.tasks}
    started = {name for leader in begun for name in (leader, *groups.get(leader, ()))}
    asked = tuple(name for leader in wanted for name in (leader, *groups.get(leader, ())))
    waiting = [name for name in asked if name not in started and name in before]
    dropped = tuple(name for name in waiting if name not in after or after[name].status == "done")
    other = {name for name in before if name not in after or _meant(before[name]) != _meant(after[name])}
    members = {name for leader in begun for name in groups.get(leader, ())}
    added = tuple(name for wave in new.waves for name in wave if name not in before and name not in members)
    off = tuple(before[name] for name in dropped if name not in after)
    left = kept(groups, new, begun=begun, gone=dropped)
    now = gathered(replace(new, tasks=(*new.tasks, *off)), left)
    more = tuple(task for task in now.tasks if task.id in added)
    return Replanned(
        seen=new,
        renamed=tuple((name, called) for name, called in renamed.items() if name in asked),
        plan=with_more(carried(plan, gathered(seen, groups), now, waiting), more),
        added=added,
        dropped=dropped,
        changed=tuple(name for name in waiting if name in other and name not in dropped),
        late=tuple(name for name in asked if name in started and name in other),
    )


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


def _meant(task: Task) -> Task:
    """What a task asks for, wherever it stands and whether or not it is ticked."""
    return replace(task, line=0, status="open", subtasks=tuple(_meant(part) for part in task.subtasks))
