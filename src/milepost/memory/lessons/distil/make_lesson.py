"""A lesson out of its parts. The same lesson has the same id wherever and whenever it is learnt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from milepost.core.memories import Lesson, LessonKind
from milepost.memory.lessons.distil.call_shapes import shape_of
from milepost.memory.lessons.distil.literals import without_literals
from milepost.memory.lessons.distil.signs_of_instructions import words_of
from milepost.memory.lessons.distil.wording import code_in, fits
from milepost.memory.lessons.experience import Experience

MOST_TERMS, LONGEST_SOURCE, LONGEST_SIGNATURE = 16, 200, 200

_OF_TASKS = frozenset({"usage", "recovery", "failed_approach", "distilled"})
_COUNTS = re.compile(r"\b\d+ (?:of \d+|verified)")
_STOP_WORDS = """
    a an add all and any are as at be by can check code create do each every file for from function get given has
    have if implement in into is it its let like make method module must new not of on one or out return returns set
    should so some support takes take test tests than that the their them then there these they this to two up
    update use used using when where which while with without write you
"""
_STOP = frozenset(_STOP_WORDS.split())


def lesson(
    kind: LessonKind, experience: Experience, *, subject: str, text: str, source: str, terms: Iterable[str] = ()
) -> Lesson:
    """A lesson of an experience; an empty text is one of a lesson that was refused."""
    titled = (*terms, *(title_words(experience.title) if kind in _OF_TASKS else ()))
    return Lesson(
        id=id_of(kind, experience.project, subject, text),
        kind=kind,
        project=experience.project,
        subject=subject,
        text=text if fits(text) else "",
        made_at=experience.at,
        terms=tuple(dict.fromkeys(titled))[:MOST_TERMS],
        source=source,
    )


def id_of(kind: LessonKind, project: str, subject: str, text: str) -> str:
    """By what a lesson says, not by its counts: to learn it again is to support it."""
    return _digest(kind, project, subject, normal_form(kind, text))


def ids_of(lesson: Lesson) -> tuple[str, ...]:
    """The ids that a lesson may have: memories also hold mends that go by their very lines, literals and all."""
    today = id_of(lesson.kind, lesson.project, lesson.subject, lesson.text)
    lines = " ".join(code_in(lesson.text).split())
    return (
        (today, _digest("recovery", lesson.project, lesson.subject, lines)) if lesson.kind == "recovery" else (today,)
    )


def normal_form(kind: LessonKind, text: str) -> str:
    """What a lesson says, without what differs from one time to the next: counts, literals, variables, places."""
    if kind == "usage":
        return shape_of(code_in(text))
    if kind == "recovery":
        return without_literals(code_in(text))
    return " ".join(_COUNTS.sub("#", text).split())


def source_of(commit: str, path: str = "") -> str:
    """Where a text was taken from, by which it is found again; signs beyond ASCII are written out."""
    whole = " ".join(part for part in (commit, path) if part)
    return whole.encode("ascii", "backslashreplace").decode("ascii")[:LONGEST_SOURCE]


def title_words(title: str) -> tuple[str, ...]:
    """The words of a title that say what it is about."""
    return tuple(word for word in words_of(title) if len(word) > 2 and word not in _STOP and not word.isdigit())


def digest_in(signature: str) -> str:
    """The eight hex digits of an error's signature; what else is in it is the error's own text."""
    found = re.match(r"[0-9a-f]{8}(?= |\Z)", signature)
    return found[0] if found else hashlib.sha256(signature.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]
