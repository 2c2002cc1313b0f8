"""The open tasks as waves: what may start at once, what after it, and what never can."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from milepost.core.task import Plan, Problem, Roadmap, Task
from milepost.plan.claims import Claims
from milepost.plan.ground import UNSEEN, Ground
from milepost.plan.lint import lint
from milepost.plan.order import in_order
from milepost.plan.planning import PLAIN, Planning

_LONGEST_PATH = 12


def plan(roadmap: Roadmap, planning: Planning = PLAIN, ground: Ground = UNSEEN) -> Plan:
    """The graph of a roadmap: each task in the first wave after all it waits for and all that change its files."""
    tasks = tuple(map(_with_subtasks, roadmap.tasks))
    by_id = {task.id: task for task in tasks if task.status == "open"}
    waits_for = {name: [other for other in task.depends_on if other in by_id] for name, task in by_id.items()}
    rank = {name: position for position, name in enumerate(in_order(tuple(by_id)))}
    sequence = _sequence(rank, waits_for)
    problems = [*roadmap.problems, *_cycles(sequence, waits_for, by_id), *lint(tasks)]
    return Plan(
        tasks=tasks,
        waves=tuple(tuple(sorted(wave, key=rank.__getitem__)) for wave in _waves(sequence, waits_for, by_id)),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
        dialect=roadmap.dialect,
    )


def _with_subtasks(task: Task) -> Task:
    """The task with the files, checks and dependencies of its subtasks added to its own, in the order of the file."""
    members = tuple(task.walk())
    return replace(
        task,
        files=_union([member.files for member in members]),
        verify=_union([member.verify for member in members]),
        depends_on=_union([member.depends_on for member in members]),
    )


def _union(groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in groups for name in group))


def _sequence(rank: Mapping[str, int], waits_for: Mapping[str, Sequence[str]]) -> list[str]:
    """The names with each after all it waits for, as near to their rank as that allows; cycles left out."""
    names = list(rank)
    missing = {name: len(waits_for[name]) for name in names}
    followers: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        for other in waits_for[name]:
            followers[other].append(name)
    free = [rank[name] for name in names if not missing[name]]
    sequence = []
    while free:
        name = names[heapq.heappop(free)]
        sequence.append(name)
        for follower in followers[name]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(free, rank[follower])
    return sequence


def _waves(
    sequence: Sequence[str], waits_for: Mapping[str, Sequence[str]], by_id: Mapping[str, Task]
) -> list[list[str]]:
    waves: list[list[str]] = []
    wave_of: dict[str, int] = {}
    claims = Claims()
    for name in sequence:
        after_all = 1 + max((wave_of[other] for other in waits_for[name]), default=-1)
        wave = claims.first_free(by_id[name].files, after_all)
        wave_of[name] = wave
        claims.add(by_id[name].files, wave)
        waves += [[] for _ in range(wave + 1 - len(waves))]
        waves[wave].append(name)
    return waves


def _cycles(
    sequence: Sequence[str], waits_for: Mapping[str, Sequence[str]], by_id: Mapping[str, Task]
) -> Iterator[Problem]:
    """One problem for each circle met when every task left over follows the first it waits for."""
    reached = set(sequence)
    stuck = {
        name: next(other for other in others if other not in reached)
        for name, others in waits_for.items()
        if name not in reached
    }
    seen: set[str] = set()
    for start in stuck:
        path: dict[str, None] = {}
        name = start
        while name not in seen:
            seen.add(name)
            path[name] = None
            name = stuck[name]
        if name in path:
            names = list(path)
            yield _cycle(names[names.index(name) :], by_id)


def _cycle(names: list[str], by_id: Mapping[str, Task]) -> Problem:
    first = min(range(len(names)), key=lambda position: by_id[names[position]].line)
    path = [*names[first:], *names[: first + 1]]
    if len(path) > _LONGEST_PATH:
        path[_LONGEST_PATH - 2 : -1] = ["…"]
    message = f"{' → '.join(path)}: each waits for the next, so none can start"
    return Problem(line=by_id[names[first]].line, message=message, fatal=True)
