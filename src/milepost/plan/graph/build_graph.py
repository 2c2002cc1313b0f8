"""A roadmap as a plan: what is one attempt, what comes after what, in which waves, and what to look at before."""

from __future__ import annotations

from collections.abc import Iterable

from milepost.core.task import Plan, Problem, Roadmap, Task, Wait
from milepost.plan.advice.lint import lint
from milepost.plan.graph.attempt_units import units_of
from milepost.plan.graph.groups import grouped
from milepost.plan.graph.order import in_order
from milepost.plan.graph.shared_files import sharing
from milepost.plan.graph.waits import import_waits, led, outline_waits, with_waits, without_circles
from milepost.plan.graph.waves import Edges, cycles_in, in_sequence, waves_of
from milepost.plan.options import PLAIN, Planning
from milepost.plan.repository_facts import UNSEEN, RepositoryFacts


def plan(roadmap: Roadmap, planning: Planning = PLAIN, ground: RepositoryFacts = UNSEEN) -> Plan:
    """The graph of a roadmap: each task in the first wave after all it comes after and all that change its files."""
    units, wholes = units_of(roadmap.tasks, planning.unit)
    tasks = grouped(units, planning)
    by_id = _worked_on(tasks)
    rank = {name: position for position, name in enumerate(in_order(tuple(by_id)))}
    stated = {name: [other for other in task.depends_on if other in by_id] for name, task in by_id.items()}
    sequence = in_sequence(rank, stated)
    leader_of = {name: task.id for task in tasks for name in task.members}
    waits = _waits([by_id[name] for name in sequence], stated, planning, ground, led(wholes, leader_of))
    before = with_waits(stated, waits)
    waves = waves_of(in_sequence(rank, before), before, by_id)
    problems = [
        *_held(roadmap.problems, planning),
        *cycles_in(sequence, stated, by_id),
        *lint(units, ground),
        *sharing([by_id[name] for name in by_id], ground),
    ]
    return Plan(
        tasks=tasks,
        waves=tuple(tuple(sorted(wave, key=rank.__getitem__)) for wave in waves),
        problems=tuple(sorted(problems, key=lambda problem: (problem.page, problem.line))),
        waits=waits,
        notes=(*ground.notes, *_hints(units, planning)),
        dialect=roadmap.dialect,
    )


def _hints(tasks: tuple[Task, ...], planning: Planning) -> tuple[str, ...]:
    if planning.sequence == "outline" or not any(task.parallel and task.status == "open" for task in tasks):
        return ()
    return ("some tasks are marked [P], and all may start at once: --order outline keeps the others in their order",)


def _worked_on(tasks: tuple[Task, ...]) -> dict[str, Task]:
    """The open tasks that have attempts of their own."""
    members = {name for task in tasks for name in task.members}
    return {task.id: task for task in tasks if task.status == "open" and task.id not in members}


def _waits(
    sequence: list[Task], stated: Edges, planning: Planning, ground: RepositoryFacts, wholes: Iterable[Wait]
) -> tuple[Wait, ...]:
    """What is inferred; what is stated goes before it, and the order of the outline before the imports."""
    waits = without_circles(wholes, stated)
    if planning.sequence == "outline":
        reached = {task.id for task in sequence}
        rank = {task.id: position for position, task in enumerate(sequence)}
        known = with_waits({name: stated[name] for name in rank}, (wait for wait in waits if wait.task in reached))
        by_id = {task.id: task for task in sequence}
        outline = outline_waits([by_id[name] for name in in_sequence(rank, known)])
        waits += tuple(wait for wait in outline if wait.after not in known[wait.task])
    if planning.imports and ground.imports:
        known = with_waits(stated, waits)
        waits += without_circles(import_waits(sequence, ground), known)
    return waits


def _held(problems: Iterable[Problem], planning: Planning) -> Iterable[Problem]:
    """What is odd about the roadmap; where subtasks are tasks of their own, so are their bounds."""
    return (problem for problem in problems if planning.unit == "task" or problem.kind != "bounds")
