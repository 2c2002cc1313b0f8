"""A kind of file: how its contested lines may be read, and what must hold of the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from milepost.workspace.reconcile.list_entries import Lines, ListEntry, ListReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where in the result a contested stretch was made one: the lines from `first`, counted from 1, and its reading."""

    first: int
    lines: Lines
    reading: str

    @property
    def filled(self) -> tuple[int, ...]:
        """The numbers of its lines that are not blank."""
        return tuple(number for number, line in enumerate(self.lines, self.first) if line.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A result that lines alone have led to, beside the versions it was made of."""

    path: str
    base: str
    ours: str
    theirs: str
    result: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Readings are tried in turn for each contested stretch; `holds` says whether the result is certain."""

    readings: tuple[ListReading, ...]
    holds: Callable[[Proposed], bool]


def one_a_line(
    lines: Lines, entry_of: Callable[[str], ListEntry | None], leads: Callable[[str], bool] = lambda _: False
) -> tuple[ListEntry, ...] | None:
    """Entries of a line each; blank lines stay with the one before, and lines that lead to one, comments, with it."""
    found: list[ListEntry] = []
    pending: list[str] = []
    for line in lines:
        if leads(line) or (not line.strip() and (pending or not found)):
            pending.append(line)
        elif not line.strip():
            found[-1] = replace(found[-1], lines=(*found[-1].lines, line))
        elif (entry := entry_of(line)) is not None:
            found.append(replace(entry, lines=(*pending, *entry.lines)))
            pending = []
        else:
            return None
    return None if any(line.strip() for line in pending) else tuple(found)


def repeated(names: Iterable[str]) -> frozenset[str]:
    """The names that appear more than once."""
    return frozenset(name for name, count in Counter(names).items() if count > 1)


def newly(found: Callable[[str], frozenset[str] | None], proposed: Proposed) -> bool:
    """Whether the result repeats what neither side repeats; also where that cannot be told."""
    result, ours, theirs = (found(text) for text in (proposed.result, proposed.ours, proposed.theirs))
    return result is None or ours is None or theirs is None or bool(result - ours - theirs)
