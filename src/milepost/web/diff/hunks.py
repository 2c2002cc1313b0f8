"""Which stretches of two texts are shown together: changes with some lines around them, as many as fit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from milepost.core.same_lines import Stretch

Group = tuple[Stretch, ...]


def groups_of(stretches: Sequence[Stretch], context: int) -> Iterator[Group]:
    """The changes of a text with so many lines before and after them; those that are near each other are together."""
    group: list[Stretch] = []
    last = len(stretches) - 1
    for number, stretch in enumerate(stretches):
        lines = stretch.new_end - stretch.new
        after, before = (0 if number == 0 else context), (0 if number == last else context)
        if not stretch.same or lines <= after + before:
            group.append(stretch)
            continue
        if group:
            yield (*group, _part(stretch, 0, after))
        group = [_part(stretch, lines - before, lines)]
    if not all(stretch.same for stretch in group):
        yield tuple(group)


def fitting(groups: Iterable[Group], room: int) -> tuple[tuple[Group, ...], bool]:
    """As many groups as there is room for, the last one cut if need be, and whether something is left out."""
    shown: list[Group] = []
    for group in groups:
        if room <= 0:
            return tuple(shown), True
        size = rows_in(group)
        if size > room:
            return (*shown, tuple(_cut(group, room))), True
        room -= size
        shown.append(group)
    return tuple(shown), False


def rows_in(group: Iterable[Stretch]) -> int:
    """How many rows a group is shown as."""
    return sum(
        stretch.new_end - stretch.new + (0 if stretch.same else stretch.old_end - stretch.old) for stretch in group
    )


def _part(stretch: Stretch, begin: int, end: int) -> Stretch:
    """Some lines of a stretch that is the same."""
    old, new = stretch.old, stretch.new
    return replace(stretch, old=old + begin, old_end=old + end, new=new + begin, new_end=new + end)


def _cut(group: Group, room: int) -> Iterator[Stretch]:
    for stretch in group:
        if stretch.same:
            fits = _part(stretch, 0, min(stretch.new_end - stretch.new, room))
        else:
            old_end = min(stretch.old_end, stretch.old + room)
            new_end = min(stretch.new_end, stretch.new + room - (old_end - stretch.old))
            fits = replace(stretch, old_end=old_end, new_end=new_end)
        yield fits
        room -= rows_in([fits])
        if room <= 0:
            return
