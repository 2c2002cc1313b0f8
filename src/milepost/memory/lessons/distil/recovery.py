"""Lessons of recovery: an error that an attempt failed with, and the lines with which the next one passed.

They go by the error and the lines: the same mend in another file, or with other literals in its calls, is the same
lesson.
"""

from __future__ import annotations

from dataclasses import replace

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.added_lines import added_numbers
from milepost.memory.lessons.distil.lines import code_lines, dedented, quoted
from milepost.memory.lessons.distil.make_lesson import digest_in, lesson, source_of
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.signs_of_instructions import instruction_in, is_plain, words_of
from milepost.memory.lessons.experience import Experience, FileChange, VerifiedAttempt
from milepost.sources.grammars import language_of
from milepost.sources.python_modules import is_test_path

MOST_LINES = 15


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for the last error before a task passed, where a few lines in one file made the difference."""
    accepted, failed = experience.accepted, experience.failed
    if accepted is None or not failed or not failed[-1].known_by:
        return ()
    mended = _mended(failed[-1], accepted)
    if mended is None:
        return ()
    source = source_of(accepted.commit, mended.path)
    try:
        made = _lesson(experience, failed[-1], mended, source)
    except CannotQuote as refused:
        return (refusal("recovery", experience, source, refused.why),)
    return (made,) if made.text else ()


def _mended(failed: VerifiedAttempt, accepted: VerifiedAttempt) -> FileChange | None:
    """The one file of code that differs between the two attempts, tests left out; None where it is not one."""
    left = {change.path: change.after for change in failed.changes}
    differing = [
        FileChange(path=change.path, before=left.get(change.path, change.before), after=change.after)
        for change in accepted.changes
        if change.after is not None and left.get(change.path, change.before) != change.after
    ]
    code = [change for change in differing if language_of(change.path) and not is_test_path(change.path)]
    return code[0] if len(code) == 1 else None


def _lesson(experience: Experience, failed: VerifiedAttempt, mended: FileChange, source: str) -> Lesson:
    numbers = added_numbers(mended.before, mended.after)
    text = ""
    digest = digest_in(failed.signature)
    if 0 < len(numbers) <= MOST_LINES:
        lines = code_lines(mended.path, mended.after or "")
        code = quoted(mended.path, (lines[number - 1] for number in sorted(numbers) if number <= len(lines)))
        kept = dedented(code)
        text = wording.recovery(failed.error_class or "Error", digest, mended.path, kept) if kept else ""
    terms = [word for word in words_of(failed.error_class) if len(word) > 2]
    subject = digest_in(failed.known_by[-1])
    made = lesson("recovery", experience, subject=subject, text=text, source=source, terms=terms)
    known_by = (one for one in failed.known_by if is_plain(one) and not instruction_in(one))
    return replace(made, symbols=(mended.path,), signature="\n".join(known_by))
