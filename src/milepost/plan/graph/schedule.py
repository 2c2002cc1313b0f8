"""Which tasks may start now, and which never will."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.core.task import Plan, Task, Wait
from milepost.plan.graph.file_claims import Claims

NONE: frozenset[str] = frozenset()


def ready(
    plan: Plan,
    done: frozenset[str],
    busy: frozenset[str],
    ended: frozenset[str],
    *,
    unwanted: frozenset[str] = NONE,
    asked: frozenset[str] = NONE,
) -> tuple[Task, ...]:
    """The tasks that may start together now, beside those that are `busy`.

    `done` tasks have their milepost; `ended` ones are over without one; `unwanted` ones are not part of the run;
    `asked` ones wait for a person. Two tasks that change the same file are never given together.
    """
    by_id = {task.id: task for task in plan.tasks}
    met = done | {task.id for task in plan.tasks if task.status == "done"}
    held = _held(plan, met, ended, unwanted)
    claims = Claims()
    for name in busy:
        claims.add(by_id[name].files, 0)
    settled = met | busy | ended | unwanted | asked | held
    picked = []
    for task in (by_id[name] for wave in plan.waves for name in wave):
        free = task.id not in settled and met.issuperset(task.depends_on)
        if free and claims.first_free(task.files, 0) == 0:
            claims.add(task.files, 0)
            picked.append(task)
    return tuple(picked)


def blocked(plan: Plan, failed: frozenset[str], unwanted: frozenset[str] = NONE) -> Mapping[str, str]:
    """The tasks that cannot start because of `failed` ones, each with the dependency that it waits for.

    What is `unwanted` blocks whoever depends on it; that something merely stands before a task does so only once it
    failed; and what its files import was only to be done first if it was done at all.
    """
    by_id = {task.id: task for task in plan.tasks}
    listed = _by_task(plan)
    lost = failed | unwanted
    waits_for: dict[str, str] = {}
    found = True
    while found:  # a task may wait for one of a later wave, which the plan learnt of on the way
        found = False
        for task in (by_id[name] for wave in plan.waves for name in wave if name not in waits_for):
            stated = (name for name in task.depends_on if name in lost or name in waits_for)
            before = (wait.after for wait in listed.get(task.id, ()) if wait.why == "outline")
            standing = (name for name in before if name in failed or name in waits_for)
            why = next(stated, None) or next(standing, None)
            if why is not None and task.id not in failed:
                waits_for[task.id] = why
                found = True
    return waits_for


def _held(plan: Plan, met: frozenset[str], ended: frozenset[str], unwanted: frozenset[str]) -> frozenset[str]:
    """The tasks that come after one which may still be done."""
    if not plan.waits:
        return NONE
    known = {task.id for task in plan.tasks}
    failed = ended - met
    over = met | failed | unwanted | blocked(plan, failed, unwanted - met).keys()
    return frozenset(
        wait.task
        for wait in plan.waits
        if wait.after in known
        and (wait.after not in over or (wait.why == "outline" and wait.after not in met | unwanted))
    )


def _by_task(plan: Plan) -> dict[str, list[Wait]]:
    found: dict[str, list[Wait]] = {}
    for wait in plan.waits:
        found.setdefault(wait.task, []).append(wait)
    return found
