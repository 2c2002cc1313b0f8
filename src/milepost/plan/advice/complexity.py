"""How much a task asks for, as a score with the words that make it: whether one attempt can be expected to do it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.core.task import Task
from milepost.core.task_parts import files_of, verify_of

TOO_BIG = 7

_HIGH = re.compile(
    r"\b(?:re-?writ(?:e|es|ing|ten)|re-?architect\w*|re-?design\w*|re-?factor(?!ed\b)\w*|migrat(?:e|es|ing|ion)|overhaul\w*"
    r"|end[- ]to[- ]end|from scratch|everything|everywhere|entire(?:ly)?|whole|complete(?:ly)? (?:new|re\w+)"
    r"|across (?:the|all)|all (?:of )?the|every (?:\w+ )?(?:module|file|page|endpoint|service|component|screen)s?)\b",
    re.IGNORECASE,
)
_MEDIUM = re.compile(
    r"\b(?:integrat(?:e|es|ing|ion)|architecture|framework|platform|infrastructure|subsystem|pipeline|engine|orchestrat\w*"
    r"|distributed|concurren\w+|real[- ]time|multi[- ]?\w+|full(?:y)?|port|convert|replace|support for)\b",
    re.IGNORECASE,
)
_SIMPLE = re.compile(
    r"\b(?:typos?|rename|bump|comments?|docstrings?|readme|changelog|wording|spelling|links?|version number)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\band\b|[,;&+]|(?<=\w)/(?=\w)", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")

# (at least so many, points): the first that holds counts.
_TITLE_LETTERS = ((200, 3), (120, 2), (80, 1))
_WORDS = ((800, 4), (400, 3), (200, 2), (100, 1))
_FILES = ((10, 5), (7, 4), (5, 3), (4, 2), (3, 1))
_SUBTASKS = ((12, 5), (8, 4), (6, 3), (4, 1))
_VERIFY = ((6, 3), (4, 2), (3, 1))
_THINGS = ((6, 3), (4, 2), (2, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Complexity:
    """The score of a task, and what made it, the heaviest first."""

    score: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def is_too_big(self) -> bool:
        return self.score >= TOO_BIG


def complexity_of(task: Task) -> Complexity:
    """The complexity of a task with its open subtasks."""
    found = sorted(_points(task), key=lambda reason: -reason[0])
    return Complexity(
        score=max(0, sum(points for points, _ in found)),
        reasons=tuple(words for points, words in found if points > 0),
    )


def _points(task: Task) -> Iterator[tuple[int, str]]:
    title = _CODE.sub(" ", task.title)
    below = [part for subtask in task.subtasks for part in subtask.walk() if part.status == "open"]
    for word in _distinct(_HIGH, title):
        yield 2, f'"{word}"'
    for word in _distinct(_MEDIUM, title):
        yield 1, f'"{word}"'
    for word in _distinct(_SIMPLE, title):
        yield -1, word
    words = sum(len(f"{part.title} {part.text}".split()) for part in (task, *below))
    counted = (
        (_SUBTASKS, len(below), "{} subtasks"),
        (_FILES, len(files_of(task)), "{} files"),
        (_VERIFY, len(verify_of(task)), "{} Verify lines"),
        (_WORDS, words, "{} words"),
        (_THINGS, 1 + len(_AND.findall(title)), "{} things in its title"),
        (_TITLE_LETTERS, len(task.title), "a title of {} letters"),
    )
    for steps, amount, words_for in counted:
        if points := next((points for least, points in steps if amount >= least), 0):
            yield points, words_for.format(amount)


def _distinct(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.lower() for word in pattern.findall(text)))
