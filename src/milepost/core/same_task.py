"""A task found again in a roadmap that was edited: by its id, its title, or by being most alike.

Whoever is found wrongly is ticked without having been done, so that all doubt counts against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from milepost.core.task import Task

ALIKE = 0.65
# How alike a title has to be at least where all else is the same, and how much more than that of any other.
_STILL_ALIKE, _AHEAD = 0.3, 0.1
_SAME_WORD = 0.8
_LITTLE = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to", "up"}
)


def found_again(task: Task, now: Sequence[Task], before: Sequence[Task]) -> Task | None:
    """The task of a roadmap that `task` of the roadmap `before` is now; None when it is gone or cannot be told.

    Both are looked at with all subtasks. What was not in the roadmap before is known by its id alone.
    """
    tasks, then = _everyone(now), {one.id: one for one in _everyone(before)}
    same_id = next((one for one in tasks if one.id.casefold() == task.id.casefold()), None)
    if task.id not in then or (same_id is not None and _folded(same_id.title) == _folded(task.title)):
        return same_id
    stayed = {one.id for one in tasks if one.id in then and _folded(then[one.id].title) == _folded(one.title)}
    moved = [one for one in tasks if _folded(one.title) == _folded(task.title) and one.id not in stayed]
    if len(moved) == 1:
        return moved[0]
    if same_id is not None:
        return same_id if likeness(task.title, same_id.title) > 0 or _same_details(task, same_id) else None
    return _most_alike(task, [one for one in tasks if one.id not in then])


def likeness(one: str, other: str) -> float:
    """How alike two titles are, from 0 to 1: how many of their words are the same or nearly so."""
    ours, theirs = _words(one), _words(other)
    if not ours or not theirs:
        return float(_folded(one) == _folded(other))
    shared = min(sum(any(_same(word, candidate) for candidate in theirs) for word in ours), len(theirs))
    return shared / (len(ours) + len(theirs) - shared)


def _most_alike(task: Task, candidates: Sequence[Task]) -> Task | None:
    """The one that is clearly more alike than any other, and enough: less is enough where the details are the same."""
    ranked = sorted(((likeness(task.title, one.title), place) for place, one in enumerate(candidates)), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _AHEAD):
        return None
    best = candidates[ranked[0][1]]
    return best if ranked[0][0] >= (_STILL_ALIKE if _same_details(task, best) else ALIKE) else None


def _same_details(task: Task, other: Task) -> bool:
    details = (task.text, task.files, task.verify)
    return any(details) and details == (other.text, other.files, other.verify)


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    if min(len(word), len(other)) < 4 or word[0] != other[0]:
        return False
    return SequenceMatcher(None, word, other).ratio() >= _SAME_WORD


def _everyone(tasks: Sequence[Task]) -> list[Task]:
    return list({one.id: one for top in tasks for one in top.walk()}.values())


def _words(title: str) -> frozenset[str]:
    found = frozenset(re.findall(r"\w+", title.casefold()))
    return found - _LITTLE or found


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())
