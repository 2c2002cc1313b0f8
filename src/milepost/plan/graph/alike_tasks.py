"""Which small tasks belong together: those on one file, about one name, or of nearly the same words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from milepost.core.task import Task

OVERLAP = 0.6

_CODE = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[^\W_]+")
_STOP = (
    "a an and are as at be by for from has have if in into is it its of on or so that the their then this to up via "
    "when which with without"
)
# Words that nearly every task of a roadmap could have: that two tasks share them says little.
_COMMON = (
    "add allow api build change class classes cleanup code command component configure create define document docs "
    "endpoint endpoints enable ensure extend feature file files fix function functions handle handler implement "
    "improve initial integrate integration layer logic make method methods migrate model models module modules new "
    "page package provide refactor remove rename route routes schema screen script service services set setup simple "
    "support system task test tests type types unit update use user view views write"
)
_STOP_WORDS, _COMMON_WORDS = frozenset(_STOP.split()), frozenset(_COMMON.split())
_LITTLE = 0.2


class Kinship:
    """How near the titles of some tasks are to each other; words that many of them have count for little."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._words = {task.id: words_of(task.title) for task in tasks}
        counts = Counter(word for words in self._words.values() for word in words)
        many = max(3, len(tasks) // 3)
        self._common = _COMMON_WORDS | {word for word, count in counts.items() if count > many}

    def alike(self, one: Task, other: Task) -> bool:
        """Whether most of what the shorter title says is in the other one, too."""
        first, second = self._words[one.id], self._words[other.id]
        shared = first & second
        if not shared - self._common:
            return False
        return self._weight(shared) >= OVERLAP * min(self._weight(first), self._weight(second))

    def _weight(self, words: Iterable[str]) -> float:
        return sum(_LITTLE if word in self._common else 1.0 for word in words)


def words_of(title: str) -> frozenset[str]:
    """The words of a title that mean something."""
    found = (word.casefold() for word in _WORD.findall(title))
    return frozenset(word for word in found if word not in _STOP_WORDS and len(word) > 1)


def names_in(title: str) -> tuple[str, ...]:
    """What a title quotes as code."""
    return tuple(dict.fromkeys(name.strip() for name in _CODE.findall(title) if name.strip()))
