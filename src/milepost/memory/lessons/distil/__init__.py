"""Lessons distilled from what was verified, without a model: one pure function for each kind.

What goes in: code of a change that passed, cleaned; names of exceptions, symbols and files; commands that the engine
ran. What does not: messages of errors, documents, output of tools, comments, docstrings, prose, a model's words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import (
    command,
    convention,
    fact,
    failed_approach,
    files_changed_together,
    flaky,
    recovery,
    usage,
)
from milepost.memory.lessons.distil.bounds import bounded
from milepost.memory.lessons.distil.planted_instructions import planted
from milepost.memory.lessons.distil.refusals import REFUSED
from milepost.memory.lessons.experience import Experience

_KINDS: tuple[Callable[[Experience], tuple[Lesson, ...]], ...] = (
    usage.lessons,
    recovery.lessons,
    command.lessons,
    files_changed_together.lessons,
    flaky.lessons,
    failed_approach.lessons,
    convention.lessons,
    fact.lessons,
)
# What is seen in each attempt by itself, whether it passed or not.
_OF_EACH_TRY = {"command": command.lessons, "flaky": flaky.lessons, "failed_approach": failed_approach.lessons}


def distil(experience: Experience) -> tuple[Lesson, ...]:
    """What is to be learnt from a task, each with an id that is the same when it is learnt again."""
    known = bounded(experience)
    return tuple(one for kind in _KINDS for one in kind(known) if one.text)


def refused(experience: Experience) -> tuple[Lesson, ...]:
    """What was not learnt because it could be an instruction, and what in the task looks like one; without its text."""
    known = bounded(experience)
    found = [one for kind in _KINDS for one in kind(known) if one.subject.startswith(REFUSED)]
    found += planted(known)
    return tuple({one.id: one for one in found}.values())


def grown_from(lesson: Lesson, experience: Experience) -> tuple[str, ...]:
    """The episodes of an experience that support a lesson of it."""
    experience = bounded(experience)
    kind = _OF_EACH_TRY.get(lesson.kind)
    if kind is None:
        return (experience.tries[-1].episode,) if experience.tries else ()
    if lesson.kind == "failed_approach":
        return tuple(one.episode for one in experience.failed if one.signature == lesson.signature)
    alone = ((one.episode, kind(replace(experience, tries=(one,)))) for one in experience.tries)
    return tuple(episode for episode, found in alone if any(one.id == lesson.id for one in found))
