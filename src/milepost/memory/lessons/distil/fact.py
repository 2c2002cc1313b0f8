"""Lessons of fact: by which tool a check of this project is done."""

from __future__ import annotations

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.make_lesson import lesson
from milepost.memory.lessons.distil.tools import tool_in
from milepost.memory.lessons.experience import Experience

CHECKS = ("tests", "lint", "types", "build", "format", "coverage", "verify")
MOST_LESSONS = 4
SOURCE = "a check of the engine's"


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each check that passed by a tool that is known."""
    accepted = experience.accepted
    found: dict[str, Lesson] = {}
    for check in accepted.checks if accepted else ():
        tool = tool_in(check.argv)
        if check.exit_code == 0 and tool and check.name in CHECKS:
            made = _lesson(experience, check.name, tool)
            found.setdefault(made.id, made)
    return tuple(found.values())[:MOST_LESSONS]


def _lesson(experience: Experience, check: str, tool: str) -> Lesson:
    text = wording.fact(check, tool)
    terms = (tool, check, "run", "tool")
    return lesson("fact", experience, subject=f"{check} {tool}", text=text, source=SOURCE, terms=terms)
