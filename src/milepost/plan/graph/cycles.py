"""Which names of a graph are on a circle together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def circles_of(before: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """A number for each name, the same for two where each can be come to from the other. Tarjan's way, in one pass."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    circle: dict[str, int] = {}
    open_names: list[str] = []
    for start in before:
        if start in numbers:
            continue
        numbers[start] = lowest[start] = len(numbers)
        open_names.append(start)
        way = [(start, iter(before[start]))]
        while way:
            name, others = way[-1]
            for other in others:
                if other not in numbers:
                    numbers[other] = lowest[other] = len(numbers)
                    open_names.append(other)
                    way.append((other, iter(before[other])))
                    break
                if other not in circle:
                    lowest[name] = min(lowest[name], numbers[other])
            else:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    _close(name, open_names, circle)
    return circle


def _close(name: str, open_names: list[str], circle: dict[str, int]) -> None:
    number = len(circle)
    while (last := open_names.pop()) != name:
        circle[last] = number
    circle[name] = number
