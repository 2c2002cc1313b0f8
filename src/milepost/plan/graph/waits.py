"""What comes after what though no task states it: by the outline, by what files import, to prove a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from milepost.core.task import Task, Wait
from milepost.plan.graph.cycles import circles_of
from milepost.plan.graph.waves import Edges
from milepost.plan.repository_facts import RepositoryFacts

# Tasks on one file are done one after the other anyway: the last few of them stand for all.
MOST_OF_ONE_FILE = 8


def outline_waits(sequence: Sequence[Task]) -> Iterator[Wait]:
    """Each task after the one before it in a sequence; neighbours that are marked as parallel form one step."""
    before: list[Task] = []
    step: list[Task] = []
    for task in sequence:
        if not (step and task.parallel and step[-1].parallel):
            before, step = step, []
        step.append(task)
        yield from (Wait(task=task.id, after=other.id, why="outline") for other in before)


def import_waits(tasks: Sequence[Task], ground: RepositoryFacts) -> Iterator[Wait]:
    """Each task after those that change what its files import, in the order in which the tasks are given."""
    changing: dict[str, list[str]] = {}
    for task in tasks:
        for file in task.files:
            changing.setdefault(file, []).append(task.id)
    for task in tasks:
        own = set(task.files)
        told: dict[str, str] = {}
        for file in task.files:
            for other, through in ground.imports.get(file, {}).items():
                # Two that share a file keep each other out, in the order of the roadmap.
                if other not in own:
                    way = f" through {through}" if through else ""
                    for name in changing.get(other, ())[-MOST_OF_ONE_FILE:]:
                        told.setdefault(name, f"{file} imports {other}{way}")
        told.pop(task.id, None)
        yield from (Wait(task=task.id, after=name, why="imports", because=why) for name, why in told.items())


def led(waits: Iterable[Wait], leader_of: Mapping[str, str]) -> Iterator[Wait]:
    """The waits with a leader in the place of each member of its group."""
    for wait in waits:
        task, after = (leader_of.get(name, name) for name in (wait.task, wait.after))
        if task != after:
            yield replace(wait, task=task, after=after)


def without_circles(waits: Iterable[Wait], stated: Edges) -> tuple[Wait, ...]:
    """The waits that contradict neither what is stated nor each other, and say more than that."""
    fresh = [wait for wait in dict.fromkeys(waits) if _is_new(wait, stated)]
    circle = circles_of(with_waits(stated, fresh))
    kept = [wait for wait in fresh if circle[wait.task] != circle[wait.after]]
    before = {name: set(others) for name, others in with_waits(stated, kept).items()}
    return tuple(wait for wait in kept if not any(wait.after in before[other] for other in stated[wait.task]))


def with_waits(stated: Edges, waits: Iterable[Wait]) -> dict[str, list[str]]:
    """What is stated and what is not, together."""
    found = {name: list(others) for name, others in stated.items()}
    for wait in waits:
        found[wait.task].append(wait.after)
    return found


def _is_new(wait: Wait, stated: Mapping[str, Sequence[str]]) -> bool:
    known = wait.task in stated and wait.after in stated
    return known and wait.task != wait.after and wait.after not in stated[wait.task]
