"""The lessons that have something in common with a task, each with why it fits or why not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.memory.lessons.policy import CONTRADICTING
from milepost.memory.recall.index_rows import Entries, IndexEntry, Where
from milepost.memory.recall.origin import project_mark, task_mark
from milepost.memory.recall.query import RecallQuery
from milepost.memory.recall.relevance import ENOUGH, ENOUGH_ELSEWHERE, TRAVELLING, covered, softly
from milepost.memory.recall.semantic import Meaning
from milepost.memory.recall.signature import telling

MOST = 30
LONGEST_READ = 16_000
MOST_LEXICAL, MOST_SEMANTIC = 3, 2  # with embeddings each kind of search has slots of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A lesson that was found. `objection` says why it is not shown; empty where nothing speaks against it."""

    lesson: IndexEntry
    fit: float
    share: float
    signature: str = ""
    elsewhere: bool = False
    objection: str = ""

    @property
    def why(self) -> str:
        if self.signature:
            return f"the same error: {self.signature}"
        return f"{self.share:.0%} of its key terms are in the task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was looked at: how many lessons of the project and of others, and what was found among them, best first."""

    own: int
    others: int
    candidates: tuple[Candidate, ...]


def look(entries: Entries, task: RecallQuery, now: float, meaning: Meaning | None = None) -> Looked:
    """The lessons that have something in common with a task: those of its project, then those of others."""
    own, everywhere = entries.count("lesson", task.project), entries.count("lesson")
    found = _judged(entries, task, now, Where(kind="lesson", project=task.project, live=True), meaning)
    if everywhere > own:
        abroad = Where(kind="lesson", project=task.project, elsewhere=True, live=True)
        found += _judged(entries, task, now, abroad, meaning)
    return Looked(own=own, others=everywhere - own, candidates=_without_contradictions(entries, found, task.project))


def _judged(entries: Entries, task: RecallQuery, now: float, where: Where, meaning: Meaning | None) -> list[Candidate]:
    exact = _with_the_same_error(entries, task, where)
    found = _fits(entries, task, where, meaning)
    for lesson in entries.entries(key for key in exact if key not in found):
        found[lesson.key] = (lesson, 0.0)
    words = entries.stems(task.text[:LONGEST_READ])
    weights = entries.weights({term for lesson, _ in found.values() for term in lesson.terms})
    candidates = (
        Candidate(
            lesson=lesson,
            fit=fit * softly(lesson.outcome, now - lesson.at),
            share=covered(lesson.terms, words, weights),
            signature=exact.get(lesson.key, ""),
            elsewhere=where.elsewhere,
        )
        for lesson, fit in found.values()
    )
    order = {signature: place for place, signature in enumerate(task.signatures)}
    judged = (_candidate(one, task) for one in candidates)
    return sorted(judged, key=lambda one: (order.get(one.signature, len(order)), -one.fit, -one.lesson.at))


def _with_the_same_error(entries: Entries, task: RecallQuery, where: Where) -> dict[int, str]:
    """The keys of lessons that mend the same error, with the signature by which it is known; the most exact one."""
    found: dict[int, str] = {}
    for signature in filter(telling, task.signatures):
        for lesson in entries.by_signature(signature, where, MOST):
            found.setdefault(lesson.key, signature)
    return found


def _fits(
    entries: Entries, task: RecallQuery, where: Where, meaning: Meaning | None
) -> dict[int, tuple[IndexEntry, float]]:
    """By key the lessons with the same words, and those near in meaning, with how well they fit."""
    worded = entries.by_words(task.words, where, MOST if meaning is None else MOST_LEXICAL)
    found = {lesson.key: (lesson, fit) for lesson, fit in worded}
    if meaning is not None:
        for lesson, nearness in meaning.nearest(entries, task.text, where, MOST_SEMANTIC):
            found.setdefault(lesson.key, (lesson, nearness))
    return found


def _candidate(found: Candidate, task: RecallQuery) -> Candidate:
    """The candidate, with what speaks against it."""
    lesson = found.lesson
    if lesson.scope == "task" and lesson.task != task.task:
        return replace(found, objection=f"it is only for task {task_mark(lesson.task)}")
    universal = lesson.scope == "user"
    if found.elsewhere and not universal and lesson.sort not in TRAVELLING:
        return replace(found, objection=f"it only applies to project {project_mark(lesson.project)}")
    enough = ENOUGH_ELSEWHERE if found.elsewhere and not universal else ENOUGH
    if not found.signature and found.share < enough:
        return replace(found, objection=f"{found.share:.0%} of its key terms are in the task, {enough:.0%} are needed")
    return found


def _without_contradictions(entries: Entries, found: list[Candidate], home: str) -> tuple[Candidate, ...]:
    """Of lessons that say different things about one, only the one that has more behind it."""

    def standing(lesson: IndexEntry) -> tuple[bool, bool, float, str]:
        return lesson.project == home, lesson.outcome == "active", lesson.at, lesson.id

    def checked(one: Candidate) -> Candidate:
        if one.objection or one.lesson.sort not in CONTRADICTING:
            return one
        better = max([one.lesson, *entries.rivals(one.lesson)], key=standing)
        if better.id == one.lesson.id:
            return one
        return replace(one, objection=f"{better.id} contradicts it, and has more evidence")

    return tuple(checked(one) for one in found)
