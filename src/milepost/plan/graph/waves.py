"""A graph in waves: each task in the first one after all it comes after, beside none that changes the same files."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from milepost.core.task import Problem, Task
from milepost.plan.graph.file_claims import Claims

Edges = Mapping[str, Sequence[str]]

_LONGEST_PATH = 12


def in_sequence(rank: Mapping[str, int], before: Edges) -> list[str]:
    """The names with each after all it comes after, as near to their rank as that allows; cycles left out."""
    names = list(rank)
    missing = {name: len(before[name]) for name in names}
    followers: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        for other in before[name]:
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


def waves_of(sequence: Sequence[str], before: Edges, by_id: Mapping[str, Task]) -> list[list[str]]:
    """The names of a sequence in waves."""
    waves: list[list[str]] = []
    wave_of: dict[str, int] = {}
    claims = Claims()
    for name in sequence:
        after_all = 1 + max((wave_of[other] for other in before[name]), default=-1)
        wave = claims.first_free(by_id[name].files, after_all)
        wave_of[name] = wave
        claims.add(by_id[name].files, wave)
        waves += [[] for _ in range(wave + 1 - len(waves))]
        waves[wave].append(name)
    return waves


def cycles_in(sequence: Sequence[str], before: Edges, by_id: Mapping[str, Task]) -> Iterator[Problem]:
    """One problem for each circle met when every task left over follows the first it waits for."""
    reached = set(sequence)
    stuck = {
        name: next(other for other in others if other not in reached)
        for name, others in before.items()
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
    task = by_id[names[first]]
    message = f"{' → '.join(path)}: each waits for the next, so none can start"
    return Problem(line=task.line, message=message, fatal=True, page=task.page, kind="cycle")
