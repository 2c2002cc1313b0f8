"""Lessons of files that change together, more often than chance would have it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.make_lesson import lesson, source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.signs_of_instructions import words_of
from milepost.memory.lessons.experience import Experience

FEWEST, LEAST_LIFT = 3, 2.0
MOST_FILES, MOST_MILEPOSTS, MOST_LESSONS = 20, 500, 2


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each pair of files of this milepost that were changed together before, the most certain first."""
    accepted = experience.accepted
    now = tuple(sorted({change.path for change in accepted.changes})) if accepted else ()
    if not 1 < len(now) <= MOST_FILES:
        return ()
    mileposts = [frozenset(files) for files in (*experience.changed_before[-MOST_MILEPOSTS:], now)]
    alone = Counter(path for files in mileposts for path in files if path in now)
    pairs = Counter(
        pair for files in mileposts if len(files) <= MOST_FILES for pair in combinations(sorted(files & set(now)), 2)
    )
    lift = {(a, b): len(mileposts) * count / (alone[a] * alone[b]) for (a, b), count in pairs.items()}
    strong = [pair for pair, count in pairs.items() if count >= FEWEST and lift[pair] > LEAST_LIFT]
    ranked = sorted(strong, key=lambda pair: (-pairs[pair], -lift[pair], pair))
    return tuple(_lesson(experience, pair, pairs[pair]) for pair in ranked[:MOST_LESSONS])


def _lesson(experience: Experience, pair: tuple[str, str], count: int) -> Lesson:
    assert experience.accepted is not None
    source = source_of(experience.accepted.commit, pair[0])
    try:
        text = wording.together(*pair, count)
    except CannotQuote as refused:
        return refusal("together", experience, source, refused.why)
    terms = (word for path in pair for word in words_of(path.rpartition("/")[2].partition(".")[0]))
    made = lesson("together", experience, subject=" ".join(pair), text=text, source=source, terms=terms)
    return replace(made, symbols=pair)
