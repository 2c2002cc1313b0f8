"""Lessons of what was tried and failed: where, with which error, never why in anybody's words."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.changed_names import touched_names
from milepost.memory.lessons.distil.make_lesson import LONGEST_SIGNATURE, digest_in, lesson, source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.signs_of_instructions import words_of
from milepost.memory.lessons.experience import Experience, FileChange, VerifiedAttempt

MOST_LESSONS, MOST_NAMES = 2, 3


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each failed attempt with something in it that the attempt that passed did not need."""
    accepted = experience.accepted
    needed = {change.path: set(touched_names(change)) for change in accepted.changes} if accepted else {}
    found: dict[str, Lesson] = {}
    for one in experience.failed:
        for change in one.changes[:1] if accepted is None else one.changes:
            names = [name for name in touched_names(change) if name not in needed.get(change.path, ())]
            if one.signature and (change.path not in needed or names):
                made = _lesson(experience, one, change, tuple(names[:MOST_NAMES]))
                found.setdefault(made.id, made)
    return tuple(found.values())[-MOST_LESSONS:]


def _lesson(experience: Experience, tried: VerifiedAttempt, change: FileChange, names: tuple[str, ...]) -> Lesson:
    source = source_of(tried.commit or tried.episode, change.path)
    digest = digest_in(tried.signature)
    try:
        text = wording.failed(tried.error_class or "Error", digest, change.path, names)
    except CannotQuote as refused:
        return refusal("failed_approach", experience, source, refused.why)
    subject = " ".join((experience.task, change.path, *names))
    terms = (word for name in names for word in words_of(name) if len(word) > 2)
    made = lesson("failed_approach", experience, subject=subject, text=text, source=source, terms=terms)
    return replace(made, scope="task", task=experience.task, signature=tried.signature[:LONGEST_SIGNATURE])
