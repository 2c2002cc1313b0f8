"""A roadmap that is edited while it is worked on: what that means for the tasks of a run. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.core.task import Plan, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The plan as it is to be followed now, and what is another than before.

    `late` are tasks that were edited after work on them began: that goes on with the text it began with.
    """

    plan: Plan
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


def follow(old: Plan, new: Plan, *, begun: frozenset[str], wanted: tuple[str, ...]) -> Edit:
    """What an edited roadmap changes for a run that wants some tasks and has begun others."""
    before = {task.id: task for task in old.tasks}
    after = {task.id: task for task in new.tasks}
    waiting = [name for name in wanted if name not in begun]
    dropped = tuple(name for name in waiting if name not in after or after[name].status == "done")
    kept = [name for name in waiting if name in after and after[name].status == "open"]
    changed = tuple(name for name in kept if _meant(before[name]) != _meant(after[name]))
    late = tuple(
        name
        for name in wanted
        if name in begun and name in before and (name not in after or _meant(before[name]) != _meant(after[name]))
    )
    added = tuple(name for wave in new.waves for name in wave if name not in before)
    tasks = tuple(after[task.id] if task.id in changed else task for task in old.tasks)
    more = tuple(after[name] for name in added)
    waves = (*old.waves, added) if added else old.waves
    return Edit(
        plan=replace(old, tasks=(*tasks, *more), waves=waves),
        added=added,
        dropped=dropped,
        changed=changed,
        late=late,
    )


def _meant(task: Task) -> Task:
    """What a task asks for, wherever it stands and whether or not it is ticked."""
    return replace(task, line=0, status="open", subtasks=tuple(_meant(part) for part in task.subtasks))
