"""Search: episodes and lessons that fit a text, for people and for outside agents."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.memory.recall.index_rows import Entries, EntryKind, IndexEntry, Where
from milepost.memory.recall.origin import project_mark
from milepost.memory.recall.query import RecallQuery
from milepost.memory.recall.relevance import softly
from milepost.memory.recall.semantic import Meaning

MOST_READ = 50
LEXICAL_SLOTS, SEMANTIC_SLOTS = 3, 2
KINDS: tuple[EntryKind, ...] = ("episode", "lesson")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that fits: `why` it does, `when` it was, as seconds since 1970, `outcome` how it ended or stands."""

    kind: EntryKind
    id: str
    title: str
    score: float
    why: str
    when: float
    outcome: str
    project: str


def search(
    entries: Entries, question: RecallQuery, most: int, now: float, meaning: Meaning | None
) -> tuple[Found, ...]:
    """What fits best, first that with the same error; what belongs to other projects comes after, and says so."""
    here = _ranked(entries, question, now, meaning, elsewhere=False)
    if question.project and len(here) < most:
        here += _ranked(entries, question, now, meaning, elsewhere=True)
    return tuple(here[: max(0, most)])


def _ranked(
    entries: Entries, question: RecallQuery, now: float, meaning: Meaning | None, *, elsewhere: bool
) -> list[Found]:
    exact: dict[int, Found] = {}
    worded: dict[int, Found] = {}
    near: dict[int, Found] = {}
    mark = "other project {}: " if elsewhere else ""
    for kind in KINDS:
        where = Where(kind=kind, project=question.project, elsewhere=elsewhere)
        for place, signature in enumerate(question.signatures):
            for entry in entries.by_signature(signature, where, MOST_READ):
                why = mark.format(project_mark(entry.project)) + f"the same error: {signature}"
                score = 1_000.0 / (place + 1) * softly(entry.outcome, now - entry.at)
                exact.setdefault(entry.key, _found(entry, score, why))
        for entry, fit in entries.by_words(question.words, where, MOST_READ):
            score = fit * softly(entry.outcome, now - entry.at)
            worded[entry.key] = _found(entry, score, mark.format(project_mark(entry.project)) + "the same words")
        if meaning is not None:
            for entry, nearness in meaning.nearest(entries, question.text, where, MOST_READ):
                near[entry.key] = _found(entry, nearness, mark.format(project_mark(entry.project)) + "near in meaning")
    first = _by_score(exact)
    rest = _slots(_by_score(worded), _by_score(near))
    known = {(each.kind, each.id) for each in first}
    return first + [each for each in rest if (each.kind, each.id) not in known]


def _slots(worded: list[Found], near: list[Found]) -> list[Found]:
    """Three by words, then two by meaning, then again; each once."""
    merged: dict[tuple[str, str], Found] = {}
    while worded or near:
        for each in (*worded[:LEXICAL_SLOTS], *near[:SEMANTIC_SLOTS]):
            merged.setdefault((each.kind, each.id), each)
        worded, near = worded[LEXICAL_SLOTS:], near[SEMANTIC_SLOTS:]
    return list(merged.values())


def _by_score(found: dict[int, Found]) -> list[Found]:
    return sorted(found.values(), key=lambda each: (-each.score, -each.when))


def _found(entry: IndexEntry, score: float, why: str) -> Found:
    return Found(
        kind=entry.kind,
        id=entry.id,
        title=entry.title if entry.kind == "episode" else entry.text,
        score=score,
        why=why,
        when=entry.at,
        outcome=entry.outcome,
        project=entry.project,
    )
