"""Lessons of use: the import and the lines of a verified change that use what is the project's own."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import python_usage, script_usage, wording
from milepost.memory.lessons.distil.changed_names import touched_names
from milepost.memory.lessons.distil.make_lesson import lesson, source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.signs_of_instructions import words_of
from milepost.memory.lessons.distil.uses import Use
from milepost.memory.lessons.experience import Experience, FileChange
from milepost.sources.grammars import language_of
from milepost.sources.python_modules import is_test_path

MOST_LESSONS = 4


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each symbol that a verified change uses and did not make itself; the first few of them."""
    accepted = experience.accepted
    if accepted is None:
        return ()
    made_here = {name for change in accepted.changes if not is_test_path(change.path) for name in touched_names(change)}
    found: dict[str, Lesson] = {}
    for change in sorted(accepted.changes, key=_last_of_all):
        for use in _uses(change):
            if use.name in made_here or use.symbol.rpartition(".")[2] in made_here:
                continue
            found.setdefault(use.symbol, _lesson(experience, accepted.commit, change.path, use))
    return tuple(found.values())[:MOST_LESSONS]


def _uses(change: FileChange) -> tuple[Use, ...]:
    reader = python_usage if language_of(change.path) == "Python" else script_usage
    return tuple(reader.uses_in(change))


def _last_of_all(change: FileChange) -> tuple[bool, str]:
    """Tests show how something is called where nothing else does."""
    return (is_test_path(change.path) or ".test." in change.path or ".spec." in change.path, change.path)


def _lesson(experience: Experience, commit: str, path: str, use: Use) -> Lesson:
    source = source_of(commit, path)
    try:
        if use.refused:
            raise CannotQuote(use.refused)
        text = wording.usage(use.symbol, path, use.code)
    except CannotQuote as refused:
        return refusal("usage", experience, source, refused.why)
    subject = " ".join((use.symbol, *use.taken))
    terms = (word for part in subject.split() for word in words_of(part) if len(word) > 2)
    made = lesson("usage", experience, subject=subject, text=text, source=source, terms=terms)
    return replace(made, symbols=(use.name,))
