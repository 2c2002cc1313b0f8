"""What was done stays done: items of a document that was read before are found again in the new reading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from milepost.core.task import TaskStatus
from milepost.roadmap.prose.normalise import Anchored

ALIKE = 0.6  # share of words that two titles of one task have in common


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownItem:
    """An item as it was read before, or as it stands in the file that was written; there its line is not known."""

    title: str
    status: TaskStatus
    said: str = ""


def kept(items: Sequence[Anchored], before: Sequence[KnownItem], ticks: Sequence[KnownItem]) -> tuple[Anchored, ...]:
    """The items as done as they were: what the user's file says of one goes first, then whether it was done before."""
    known, ticked = matched(items, before), matched(items, ticks)
    return tuple(replace(item, status=_status(item, known.get(at), ticked.get(at))) for at, item in enumerate(items))


def matched(items: Sequence[Anchored], known: Sequence[KnownItem]) -> dict[int, KnownItem]:
    """Which item is which: by the text of its line, else by its title, else by most of the words of it."""
    found: dict[int, KnownItem] = {}
    left = dict(enumerate(known))

    def pair(is_it: Callable[[Anchored, KnownItem], bool]) -> None:
        for place, item in enumerate(items):
            other = next((at for at, one in left.items() if place not in found and is_it(item, one)), None)
            if other is not None:
                found[place] = left.pop(other)

    pair(lambda item, one: bool(one.said) and _folded(item.said) == _folded(one.said) and _alike(item, one) >= ALIKE)
    pair(lambda item, one: _folded(item.title) == _folded(one.title))
    # A line that asks for several things does not tell which of them is meant.
    alone = _once(item.said for item in items) & _once(one.said for one in known)
    pair(lambda item, one: _folded(item.said) in alone and _folded(item.said) == _folded(one.said))
    closest = sorted(
        ((_alike(item, one), place, at) for place, item in enumerate(items) for at, one in left.items()), reverse=True
    )
    for likeness, place, at in closest:
        if likeness >= ALIKE and place not in found and at in left:
            found[place] = left.pop(at)
    return found


def _status(item: Anchored, before: KnownItem | None, ticked: KnownItem | None) -> TaskStatus:
    if ticked is not None:
        return ticked.status
    return "done" if before is not None and before.status == "done" else item.status


def _alike(item: Anchored, one: KnownItem) -> float:
    mine, theirs = _words(item.title), _words(one.title)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def _once(texts: Iterable[str]) -> set[str]:
    counted = Counter(map(_folded, texts))
    return {text for text, times in counted.items() if text and times == 1}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
