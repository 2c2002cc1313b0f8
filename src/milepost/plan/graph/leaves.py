"""Subtasks as tasks of their own: what each of the innermost boxes has of the tasks above it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from milepost.core.budget import UNBOUNDED, Allowance
from milepost.core.task import Task, Wait
from milepost.plan.graph.waves import in_sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """An item that is worked on by itself, and the open tasks above it, the outermost first."""

    task: Task
    above: tuple[Task, ...]


def leaves_of(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[Wait, ...]]:
    """The innermost open boxes as tasks, with what is done as it stands, and what must come last to prove a whole.

    What a task above is verified by is asked of the open box below it that can be done last, which comes after the
    others there. A bound of a task above is shared evenly by the open boxes below it.
    """
    leaves = [leaf for task in tasks for leaf in _leaves(task, ())]
    below = _below(leaves)
    proofs, waits = _wholes(_in_turn(leaves, below))
    counts = {name: sum(task.status == "open" for task in inside) for name, inside in below.items()}
    return tuple(_own(leaf, below, proofs.get(leaf.task.id, []), counts) for leaf in leaves), tuple(waits)


def _leaves(task: Task, above: tuple[Task, ...]) -> Iterator[_Leaf]:
    open_below = any(one.status == "open" for subtask in task.subtasks for one in subtask.walk())
    if task.status == "done" or not open_below:
        yield _Leaf(task=task, above=above)
        return
    for subtask in task.subtasks:
        yield from _leaves(subtask, (*above, task))


def _below(leaves: Sequence[_Leaf]) -> dict[str, list[Task]]:
    """For the id of every item, the leaves that it stands for: those below it, or the one that it is part of."""
    found: dict[str, list[Task]] = {}
    for leaf in leaves:
        for item in (*leaf.above, *leaf.task.walk()):
            found.setdefault(item.id, []).append(leaf.task)
    return found


def _in_turn(leaves: Sequence[_Leaf], below: Mapping[str, list[Task]]) -> list[_Leaf]:
    """The leaves with each after those that it waits for, else in the order of the file; circles at the end."""
    by_id = {leaf.task.id: leaf for leaf in leaves}
    rank = {name: position for position, name in enumerate(by_id)}
    before = {name: list(dict.fromkeys(_dependencies(leaf, below))) for name, leaf in by_id.items()}
    return [by_id[name] for name in dict.fromkeys((*in_sequence(rank, before), *by_id))]


def _wholes(leaves: Sequence[_Leaf]) -> tuple[dict[str, list[Task]], list[Wait]]:
    """The tasks that the last open leaf below each is to prove besides, and whom it comes after therefore.

    As all go by one order, which the dependencies allow, no two of them wait for each other.
    """
    parents: dict[str, Task] = {}
    inside: dict[str, list[str]] = {}
    for leaf in leaves:
        for parent in leaf.above if leaf.task.status == "open" else ():
            parents[parent.id] = parent
            inside.setdefault(parent.id, []).append(leaf.task.id)
    proofs: dict[str, list[Task]] = {}
    waits: list[Wait] = []
    for name, parent in parents.items():
        *others, last = inside[name]
        if parent.verify or parent.verify_hidden:
            proofs.setdefault(last, []).append(parent)
            because = f"its Verify covers all of {name}"
            waits += [Wait(task=last, after=other, why="whole", because=because) for other in others]
    return proofs, waits


def _own(leaf: _Leaf, below: Mapping[str, list[Task]], wholes: list[Task], counts: Mapping[str, int]) -> Task:
    """A leaf with what it has of those above: what it says itself goes before what the nearest of them says."""
    task, line = leaf.task, (leaf.task, *reversed(leaf.above))
    items = tuple(task.walk())
    agent = next((one for one in line if one.agent), task)
    bounded = next((one for one in line if one.budget != UNBOUNDED), task)
    files = dict.fromkeys(file for item in items for file in item.files)
    return replace(
        task,
        context="\n\n".join(filter(None, (task.context, " › ".join(one.title for one in leaf.above)))),
        files=tuple(files) or next((one.files for one in line if one.files), ()),
        verify=tuple(dict.fromkeys(line for item in (*items, *wholes) for line in item.verify)),
        verify_hidden=tuple(dict.fromkeys(line for item in (*items, *wholes) for line in item.verify_hidden)),
        depends_on=tuple(_dependencies(leaf, below)),
        awaits=(),
        depends_elsewhere=tuple(dict.fromkeys(other for one in line for other in one.depends_elsewhere)),
        agent=agent.agent,
        inputs=agent.inputs,
        budget=_shared(bounded.budget, 1 if bounded is task else counts[bounded.id]),
        timeout_s=next((one.timeout_s for one in line if one.timeout_s is not None), None),
        approve=next((one.approve for one in line if one.approve), ""),
        needs=tuple(dict.fromkeys(label for one in line for label in one.needs)),
        tests_may_change=any(one.tests_may_change for one in line),
        only_its_files=any(one.only_its_files for one in line),
        keeps_behaviour=any(one.keeps_behaviour for one in line),
        parallel=any(one.parallel for one in line),
        priority=next((one.priority for one in line if one.priority), ""),
    )


def _dependencies(leaf: _Leaf, below: Mapping[str, list[Task]]) -> Iterator[str]:
    """What a leaf waits for: a dependency on a task means all leaves below it, but none on those that it is part of."""
    around = {one.id for one in leaf.above}
    named = (name for one in (*leaf.above, *leaf.task.walk()) for name in one.awaits or one.depends_on)
    for name in dict.fromkeys(named):
        if name not in around:
            yield from (other.id for other in below.get(name, ()) if other.id != leaf.task.id or name == leaf.task.id)


def _shared(budget: Allowance, among: int) -> Allowance:
    return Allowance(
        usd=None if budget.usd is None else budget.usd / among,
        tokens=None if budget.tokens is None else max(1, budget.tokens // among),
        seconds=None if budget.seconds is None else budget.seconds / among,
        attempts=budget.attempts,
    )
