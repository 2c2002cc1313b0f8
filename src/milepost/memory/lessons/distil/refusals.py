"""What was not learnt because it could be an instruction: kept without its text, so that a person can look at it."""

from __future__ import annotations

from milepost.core.memories import Lesson, LessonKind
from milepost.memory.lessons.distil.make_lesson import lesson
from milepost.memory.lessons.experience import Experience

REFUSED = "refused: "


def refusal(kind: LessonKind, experience: Experience, source: str, why: str) -> Lesson:
    """A lesson that nobody gets to read: where it would have come from, and why there is none."""
    made = lesson(kind, experience, subject=f"{REFUSED}{why} ({source})", text="", source=source)
    return Lesson(
        id=made.id,
        kind=made.kind,
        project=made.project,
        subject=f"{REFUSED}{why}",
        text="",
        made_at=made.made_at,
        source=source,
    )
