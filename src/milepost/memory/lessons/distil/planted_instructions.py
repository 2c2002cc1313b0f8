"""What in a task looks like an instruction that somebody planted, wherever it stands: told, never learnt."""

from __future__ import annotations

from collections.abc import Iterator

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil.added_lines import added_text
from milepost.memory.lessons.distil.make_lesson import source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.signs_of_instructions import instruction_surely_in
from milepost.memory.lessons.experience import Experience, VerifiedAttempt

MOST = 10


def planted(experience: Experience) -> tuple[Lesson, ...]:
    """One for each place: a file's added lines, its name, an error, a command, a test, the task's own text."""
    found: dict[str, Lesson] = {}
    for source, text in _places(experience):
        if why := instruction_surely_in(text):
            made = refusal("fact", experience, source, why)
            found.setdefault(made.id, made)
    return tuple(found.values())[:MOST]


def _places(experience: Experience) -> Iterator[tuple[str, str]]:
    for one in experience.tries:
        yield from _places_of(one)
    task = source_of("", f"task {experience.task}")
    yield from ((task, experience.title), (task, experience.text))


def _places_of(tried: VerifiedAttempt) -> Iterator[tuple[str, str]]:
    name = tried.commit or tried.episode
    for change in tried.changes:
        yield source_of(name, change.path), change.path
        yield source_of(name, change.path), added_text(change.before, change.after)
    yield source_of(name, "an error"), f"{tried.error_class} . {tried.signature}"
    for check in tried.checks:
        yield source_of(name, "a command"), " ".join(check.argv)
        yield source_of(name, "a test"), " . ".join(check.flaky)
