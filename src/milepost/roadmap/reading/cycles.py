"""Dependencies without those that would make tasks wait for each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Circle(Generic[Name]):
    """Who would wait for whom, the first one at the end again."""

    path: tuple[Name, ...]

    @property
    def start(self) -> Name:
        return self.path[0]


def without_circles(
    waits: Mapping[Name, Iterable[Name]],
) -> tuple[dict[Name, tuple[Name, ...]], tuple[Circle[Name], ...]]:
    """Who waits for whom, taken one after the other, without what closes a circle; and the circles."""
    kept: dict[Name, list[Name]] = {name: [] for name in waits}
    circles = []
    for name, others in waits.items():
        for other in others:
            back = _path(kept, other, name)
            if back is None:
                kept[name].append(other)
            else:
                circles.append(Circle((name, *back)))
    return {name: tuple(others) for name, others in kept.items()}, tuple(circles)


def _path(waits: Mapping[Name, Iterable[Name]], start: Name, end: Name) -> tuple[Name, ...] | None:
    """A way from one to another along what each waits for."""
    came_from: dict[Name, Name] = {}
    todo = [start]
    while todo:
        at = todo.pop()
        if at == end:
            path = [at]
            while path[-1] != start:
                path.append(came_from[path[-1]])
            return tuple(reversed(path))
        for other in waits.get(at, ()):
            if other not in came_from and other != start:
                came_from[other] = at
                todo.append(other)
    return None
