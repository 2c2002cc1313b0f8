"""What a person is asked about held work, and what they are shown: each question in three lines, then the change."""

from __future__ import annotations

from milepost.core.task import Task
from milepost.core.verdict import Evidence, Question, Verdict

LONGEST_LINE = 2_000


def held_question(task: Task, evidence: Evidence) -> str:
    """Why the work waits, in one line, and below it what is asked."""
    reason = _one_line(evidence.reason)
    if evidence.verdict is Verdict.UNVERIFIED:
        return f"could not be verified: {reason}\nTake the work on {task.id} “{task.title}” as it is?"
    return f"{reason}\nIs the work on {task.id} “{task.title}” right?"


def held_shown(evidence: Evidence, commit: str, diff: str) -> str:
    """What the decision is about."""
    lines = [line for question in evidence.questions for line in question_lines(question)]
    return "\n".join([*lines, *([""] if lines else []), f"commit {commit}", diff])


def question_lines(question: Question) -> list[str]:
    """What is asked and where; what was expected before, and what is expected now."""
    place = f"{question.path}:{question.line}" if question.line else question.path
    asked = f"{_one_line(question.text)} ({place})" if place else _one_line(question.text)
    if not question.before and not question.after:
        return [asked]
    return [asked, f"  was: {_one_line(question.before) or '–'}", f"  now: {_one_line(question.after) or '–'}"]


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
