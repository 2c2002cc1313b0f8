"""Entries: what lists of one thing a line are made of, and both sides' additions to one brought together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

Lines = tuple[str, ...]
Order = Callable[["ListEntry"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """A list within one line, which may grow: `from x import ` `a, b` and nothing behind it."""

    head: str
    items: tuple[str, ...]
    tail: str = ""

    def line(self) -> str:
        return f"{self.head}{', '.join(self.items)}{self.tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """One thing in a list, with the lines it takes; `key` makes it the same thing on both sides.

    One that `opens` is a heading: what follows belongs to it.
    """

    key: str
    lines: Lines
    inline: Inline | None = None
    opens: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReading:
    """One way to read a stretch of lines as entries, None where it cannot be read so.

    `orders` are the orders such a list may be kept in, which counts once `seen` entries of the base are in one; else
    ours come first. With `commas`, a comma ends each entry, and the last one may do without.
    """

    name: str
    read: Callable[[Lines], tuple[ListEntry, ...] | None]
    orders: tuple[Order, ...] = ()
    seen: int = 2
    commas: bool = False


def both(
    base: Sequence[ListEntry],
    ours: Sequence[ListEntry],
    theirs: Sequence[ListEntry],
    *,
    order: Order | None = None,
    apart: Lines = (),
) -> tuple[ListEntry, ...] | None:
    """The entries of both sides, each once; None where a side did more than add, or they do not go together.

    `apart` are the blank lines that keep what has a heading from what is before it.
    """
    was, mine, other = (_by_key(side) for side in (base, ours, theirs))
    if was is None or mine is None or other is None or not (was.keys() <= mine.keys() & other.keys()):
        return None
    shared = [entry.key for entry in ours if entry.key in other]
    if shared != [entry.key for entry in theirs if entry.key in mine]:
        return None
    if [key for key in shared if key in was] != list(was):
        return None
    found: list[ListEntry] = []
    rest, others = list(ours), list(theirs)
    for key in shared:
        gap = _gap(_taken(rest, key), _taken(others, key), order, apart)
        one = _one(was.get(key), mine[key], other[key])
        if gap is None or one is None:
            return None
        found += [*gap, one]
    last = _gap(rest, others, order, apart)
    return None if last is None else (*found, *last)


def order_of(reading: ListReading, *sides: Sequence[ListEntry]) -> Order | None:
    """The order that all sides keep, None where there is none to be seen."""
    return next((order for order in reading.orders if all(_is_sorted(map(order, side)) for side in sides)), None)


def united(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """The items of both, each once: sorted where both were, ours first where not."""
    for key in (str, str.casefold):
        if _is_sorted(map(key, ours)) and _is_sorted(map(key, theirs)):
            return tuple(sorted({*ours, *theirs}, key=key))
    return tuple(dict.fromkeys((*ours, *theirs)))


def _gap(ours: list[ListEntry], theirs: list[ListEntry], order: Order | None, apart: Lines) -> list[ListEntry] | None:
    """What both sides added at one place; what one of them put below a new heading cannot take in the other's."""
    if not ours or not theirs:
        return [*ours, *theirs]
    if any(entry.opens for entry in (*ours, *theirs)) and not (ours[0].opens and theirs[0].opens):
        return None
    *most, last = ours
    between = (_blank_end(last) or apart) if theirs[0].opens else ()
    found = [*most, replace(last, lines=(*_trimmed(last), *between)), *theirs]
    if not _blank_end(theirs[-1]):
        found[-1] = replace(found[-1], lines=(*found[-1].lines, *_blank_end(last)))
    return found if order is None else sorted(found, key=order)


def _one(was: ListEntry | None, ours: ListEntry, theirs: ListEntry) -> ListEntry | None:
    """An entry that is on both sides: the same, or a list within a line that both made longer."""
    if ours.inline is not None and theirs.inline is not None:
        had = was.inline.items if was is not None and was.inline is not None else ()
        if not (set(had) <= set(ours.inline.items) and set(had) <= set(theirs.inline.items)):
            return None
        grown = replace(ours.inline, items=united(ours.inline.items, theirs.inline.items))
        return ours if grown == ours.inline else replace(ours, lines=(*ours.lines[:-1], grown.line()), inline=grown)
    longer, shorter = sorted((ours, theirs), key=lambda entry: -len(entry.lines))
    return longer if _trimmed(longer) == _trimmed(shorter) else None


def _taken(entries: list[ListEntry], key: str) -> list[ListEntry]:
    """Take off all entries before the one with this key, and that one."""
    at = next(number for number, entry in enumerate(entries) if entry.key == key)
    before = entries[:at]
    del entries[: at + 1]
    return before


def _by_key(entries: Sequence[ListEntry]) -> dict[str, ListEntry] | None:
    found = {entry.key: entry for entry in entries}
    return found if len(found) == len(entries) else None


def _trimmed(entry: ListEntry) -> Lines:
    return entry.lines[: len(entry.lines) - len(_blank_end(entry))]


def _blank_end(entry: ListEntry) -> Lines:
    filled = max((number for number, line in enumerate(entry.lines, 1) if line.strip()), default=0)
    return entry.lines[filled:]


def _is_sorted(keys: Iterable[Any]) -> bool:
    row = list(keys)
    return row == sorted(row)
