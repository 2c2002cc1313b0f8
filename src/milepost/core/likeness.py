"""A task found again in a roadmap that was edited: by its id, its title, or by being most alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from milepost.core.task import Task

ALIKE = 0.6
# An id whose title has nothing in common with the one before was given to another task.
_STRANGER = 0.3
# How much more alike than the next the one that is meant has to be.
_AHEAD = 0.1
_SAME_DETAILS, _SAME_SECTION = 0.4, 0.1
_SAME_WORD = 0.8


def found_again(task: Task, tasks: Sequence[Task], taken: Collection[str] = ()) -> Task | None:
    """The task among `tasks`, subtasks included, that `task` is now; None when it is gone or cannot be told.

    `taken` are ids that stand for other tasks: what has one of these was not renamed.
    """
    everyone = [one for top in tasks for one in top.walk()]
    same_id = next((one for one in everyone if one.id.casefold() == task.id.casefold()), None)
    same_title = [one for one in everyone if _folded(one.title) == _folded(task.title) and one.id not in taken]
    if same_id is not None and (likeness(task.title, same_id.title) >= _STRANGER or len(same_title) != 1):
        return same_id
    if len(same_title) == 1:
        return same_title[0]
    # A part of a task that was split is called after it, and is not the whole.
    others = [one for one in everyone if one.id not in taken and not task.id.startswith(f"{one.id}.")]
    return _most_alike(task, others)


def likeness(one: str, other: str) -> float:
    """How alike two titles are, from 0 to 1: how many of their words are the same or nearly so."""
    ours, theirs = _words(one), _words(other)
    if not ours or not theirs:
        return float(_folded(one) == _folded(other))
    shared = sum(any(_same(word, candidate) for candidate in theirs) for word in ours)
    shared = min(shared, len(theirs))
    of_all = shared / (len(ours) + len(theirs) - shared)
    within = 0.8 * shared / min(len(ours), len(theirs)) if shared > 1 else 0.0
    return max(of_all, within)


def _most_alike(task: Task, candidates: Sequence[Task]) -> Task | None:
    ranked = sorted(((_score(task, one), place) for place, one in enumerate(candidates)), reverse=True)[:2]
    if not ranked or ranked[0][0] < ALIKE:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _AHEAD:
        return None
    return candidates[ranked[0][1]]


def _score(task: Task, other: Task) -> float:
    score = likeness(task.title, other.title)
    details = (task.text, task.files, task.verify)
    if any(details) and details == (other.text, other.files, other.verify):
        score += _SAME_DETAILS
    if score and (task.phase, task.section) == (other.phase, other.section):
        score += _SAME_SECTION
    return score


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    if min(len(word), len(other)) < 4 or word[0] != other[0]:
        return False
    return SequenceMatcher(None, word, other).ratio() >= _SAME_WORD


def _words(title: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", title.casefold()))


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())
