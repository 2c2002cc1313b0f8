"""What comes after what it waits for, and the circles that nothing can come out of."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def in_sequence(waits_for: Mapping[T, Collection[T]]) -> tuple[list[T], list[tuple[T, ...]]]:
    """All that can be reached, each after what it waits for, else as given; and the circles, each once around."""
    rank = {one: place for place, one in enumerate(waits_for)}
    known = {one: [other for other in others if other in rank] for one, others in waits_for.items()}
    circles: list[tuple[T, ...]] = []
    sorter = TopologicalSorter(known)
    try:
        sorter.prepare()
    except CycleError:
        circles = _circles(known)
    sequence: list[T] = []
    while ready := sorter.get_ready():
        sequence += sorted(ready, key=rank.__getitem__)
        sorter.done(*ready)
    return sequence, circles


def _circles(waits_for: Mapping[T, Collection[T]]) -> list[tuple[T, ...]]:
    """One circle after the other, none of which shares anybody with an earlier one."""
    left = dict(waits_for)
    found: list[tuple[T, ...]] = []
    while True:
        try:
            TopologicalSorter({one: [other for other in left[one] if other in left] for one in left}).prepare()
        except CycleError as error:
            # The path of the error leads from what is waited for to who waits, and ends where it begins.
            circle = tuple(reversed(error.args[1]))[:-1]
            first = min(range(len(circle)), key=lambda place: list(waits_for).index(circle[place]))
            found.append((*circle[first:], *circle[:first]))
            left = {one: others for one, others in left.items() if one not in circle}
        else:
            return found
