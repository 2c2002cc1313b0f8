"""What people correct in a memory: which lessons attempts may be told."""

from __future__ import annotations

from milepost.core.errors import Misuse
from milepost.core.memories import LessonStanding, LessonState
from milepost.engine.memory.browse import lesson_story
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.project.memory_mode import require_writing
from milepost.memory.lessons.suspicious_lessons import objection

LONGEST_WHY = 500


def moved(opened: OpenedMemory, lesson: str, state: LessonState, why: str) -> LessonStanding:
    """A lesson in a state that a person put it in, for a reason."""
    require_writing(opened.home.memory.mode, correcting=True)
    if not why.strip():
        raise Misuse("changing a lesson's state needs a reason", "add one: --why TEXT")
    name = opened.catalogue.lesson_named(lesson)
    opened.stored.lessons.move(name, state, why.strip()[:LONGEST_WHY], by_hand=True)
    return lesson_story(opened, name).standing


def activated(opened: OpenedMemory, lesson: str, why: str) -> LessonStanding:
    """A lesson that is shown from now on; complains of one that nobody may be shown, whoever asks for it."""
    found = lesson_story(opened, lesson)
    if against := objection(found.lesson):
        raise Misuse(f"lesson {found.lesson.id} cannot be activated: it {against}", "milepost memory forget deletes it")
    if not found.sources:
        raise Misuse(
            f"lesson {found.lesson.id} cannot be activated: no episode here supports it",
            "a verified attempt must teach it first, or import it with --trust",
        )
    return moved(opened, lesson, "active", why)
