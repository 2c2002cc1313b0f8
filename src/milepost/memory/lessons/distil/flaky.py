"""Lessons of tests that failed and passed on the same tree."""

from __future__ import annotations

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.make_lesson import lesson, source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.signs_of_instructions import words_of
from milepost.memory.lessons.experience import Experience

MOST_LESSONS = 3


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each test that the evidence calls flaky, with how many of the runs of its check it was flaky in."""
    runs = [(one, check) for one in experience.tries for check in one.checks]
    seen = dict.fromkeys((check.name, test) for _, check in runs for test in check.flaky)
    found: list[Lesson] = []
    for name, test in seen:
        same = [check for _, check in runs if check.name == name]
        count = sum(test in check.flaky for check in same)
        found.append(_lesson(experience, test, count, len(same)))
    return tuple(found)[:MOST_LESSONS]


def _lesson(experience: Experience, test: str, count: int, runs: int) -> Lesson:
    source = source_of("", test.partition("[")[0])
    try:
        text = wording.flaky(test, count, runs)
        subject = wording.named_test(test)
    except CannotQuote as refused:
        return refusal("flaky", experience, source, refused.why)
    terms = ("flaky", *(word for word in words_of(subject) if len(word) > 2 and word not in ("test", "tests")))
    return lesson("flaky", experience, subject=subject, text=text, source=source, terms=terms)
