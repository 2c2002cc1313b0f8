"""Lessons of conventions: what several accepted changes did alike and none did otherwise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.make_lesson import lesson, source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.signs_of_instructions import words_of
from milepost.memory.lessons.experience import Experience
from milepost.sources.grammars import language_of
from milepost.sources.paths import joined

FEWEST, LEAST_SHARE = 3, 0.8
MOST_FILES, MOST_MILEPOSTS, MOST_LESSONS = 50, 500, 2

_TEST_NAMES = ("test_NAME", "NAME_test", "NAME.test", "NAME.spec", "NAMETest", "TestNAME", "NAME_spec")
_ROADMAP = re.compile(r"(?i)(^|/)(roadmap|tasks|plan|todo)[^/]*$")


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """Where tests of a folder's files are, and which file is changed along with code; each if all or most agree."""
    accepted = experience.accepted
    if accepted is None:
        return ()
    now = tuple(change.path for change in accepted.changes)
    mileposts = [files for files in (*experience.changed_before[-MOST_MILEPOSTS:], now) if len(files) <= MOST_FILES]
    return (*_tests(experience, mileposts, now), *_along(experience, mileposts, now))


def _tests(experience: Experience, mileposts: Sequence[Sequence[str]], now: Iterable[str]) -> Iterator[Lesson]:
    seen = Counter(pair for files in mileposts for pair in set(_homes(files)))
    for home, where in sorted(set(_homes(tuple(now))))[:MOST_LESSONS]:
        count = sum(times for (other, _), times in seen.items() if other == home)
        if count >= FEWEST and count == seen[home, where]:
            yield _lesson(experience, f"tests of {home}", (home, where), (count, count))


def _homes(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a file and its test, both with NAME for what they have in common."""
    for path in files:
        folder, _, name = path.rpartition("/")
        stem, dot, ending = name.partition(".")
        forms = {f"{form.replace('NAME', stem)}{dot}{ending}": form for form in _TEST_NAMES}
        for other in files if language_of(path) and stem.isidentifier() else ():
            place, _, test = other.rpartition("/")
            if test in forms:
                yield joined(folder, f"NAME{dot}{ending}"), joined(place, f"{forms[test]}{dot}{ending}")


def _along(experience: Experience, mileposts: Sequence[Sequence[str]], now: Iterable[str]) -> Iterator[Lesson]:
    coded = [files for files in mileposts if any(language_of(path) for path in files)]
    seen = Counter(path for files in coded for path in set(files) if not language_of(path))
    for path in sorted(set(now) & set(seen))[:MOST_LESSONS]:
        is_often = seen[path] >= max(FEWEST, LEAST_SHARE * len(coded)) and len(coded) > FEWEST
        if is_often and not _ROADMAP.search(path):
            yield _lesson(experience, f"along with code {path}", (path,), (seen[path], len(coded)))


def _lesson(experience: Experience, subject: str, paths: tuple[str, ...], counts: tuple[int, int]) -> Lesson:
    assert experience.accepted is not None
    source = source_of(experience.accepted.commit, paths[0])
    try:
        text = wording.tests_of(paths[0], paths[1], *counts) if len(paths) > 1 else wording.along(paths[0], *counts)
    except CannotQuote as refused:
        return refusal("convention", experience, source, refused.why)
    terms = (word for path in paths for word in words_of(path) if len(word) > 2)
    return lesson("convention", experience, subject=subject, text=text, source=source, terms=terms)
