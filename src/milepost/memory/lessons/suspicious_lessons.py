"""Lessons to be looked at by a person: what was refused, and what we could not have worded ourselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from milepost.core.memories import Lesson, LessonStanding
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.make_lesson import ids_of
from milepost.memory.lessons.distil.refusals import REFUSED
from milepost.memory.lessons.distil.signs_of_instructions import instruction_in, is_plain
from milepost.memory.store.names import flaw_in_name
from milepost.memory.transfer.imported_names import imported_lesson


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Why a lesson should be looked at, where it came from, and what to do. It never has a piece of the lesson."""

    lesson: str
    what: str
    source: str
    advice: str


def objection(lesson: Lesson) -> str:
    """Why nobody may be shown a lesson, whatever its state; empty where nothing speaks against it."""
    return wording.objection(lesson.kind, lesson.text) if lesson.text else "has no text"


def doctor_findings(standings: Iterable[LessonStanding]) -> tuple[Suspicion, ...]:
    """All that is suspicious among lessons, each with the way to get rid of it."""
    return tuple(finding for standing in standings for finding in _findings(standing))


def _findings(standing: LessonStanding) -> Iterator[Suspicion]:
    lesson = standing.lesson
    for what in _suspicions(standing):
        yield Suspicion(
            lesson=lesson.id,
            what=what,
            source=lesson.source,
            advice=f"look at {lesson.source!r}" if what.startswith(REFUSED) else f"forget lesson {lesson.id}",
        )


def _suspicions(standing: LessonStanding) -> Iterator[str]:
    lesson = standing.lesson
    if not lesson.text:
        yield lesson.subject if lesson.subject.startswith(REFUSED) and not _is_told(lesson.subject) else "has no text"
        return
    if against := objection(lesson):
        yield f"its text {against}"
    elif lesson.id not in (*ids_of(lesson), imported_lesson(lesson)):
        yield "its id does not match its content"
    if not standing.sources:
        yield "no attempt is known that it was learned from"
    names = (("project", lesson.project), ("task", lesson.task), *(("episode", source) for source in standing.sources))
    for flaw in dict.fromkeys(flaw_in_name(part, text) for part, text in names):
        if flaw:
            yield f"its {flaw}"
    for part, text in (("subject", lesson.subject), ("terms", " ".join(lesson.terms)), ("signature", lesson.signature)):
        if (why := instruction_in(text)) or not is_plain(text):
            yield f"its {part} {why or 'has characters beyond ASCII'}"


def _is_told(subject: str) -> bool:
    """Whether the reason of a refusal is itself an instruction: then it is none of ours."""
    return bool(instruction_in(subject.removeprefix(REFUSED))) or not is_plain(subject)
