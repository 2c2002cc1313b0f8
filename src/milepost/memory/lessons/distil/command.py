"""Lessons of commands: by what the engine itself ran this project's checks, with exit 0 and for several tasks."""

from __future__ import annotations

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.distil.make_lesson import lesson
from milepost.memory.lessons.distil.refusals import refusal
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.tools import tool_in
from milepost.memory.lessons.experience import CheckRun, Experience

MOST_LESSONS = 4
SOURCE = "a check of the engine's"

_TERMS = {
    "tests": ("tests", "test", "run", "command"),
    "lint": ("lint", "format", "run", "command"),
    "types": ("types", "typing", "run", "command"),
    "build": ("build", "compile", "run", "command"),
}


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each check that ended with exit 0, now and for another task; a Verify line is its task's own."""
    checks = [check for one in experience.tries for check in one.checks if check.argv]
    known = set(experience.commands_before) - {check.argv for check in checks if check.of_the_task}
    passed = [check for check in checks if check.exit_code == 0 and check.argv in known]
    found = [_lesson(experience, check) for check in passed if not _is_of_this_machine(check.argv)]
    return tuple({one.id: one for one in found}.values())[:MOST_LESSONS]


def _lesson(experience: Experience, check: CheckRun) -> Lesson:
    name = check.name if check.name.isascii() and check.name.replace("_", "").isalpha() else "own"
    try:
        text = wording.command(name.lower()[:20], (check.argv[0].rpartition("/")[2], *check.argv[1:]))
    except CannotQuote as refused:
        return refusal("command", experience, SOURCE, refused.why)
    terms = _TERMS.get(name, ("run", "command", name))
    subject = f"check {name} {tool_in(check.argv)}".rstrip()
    return lesson("command", experience, subject=subject, text=text, source=SOURCE, terms=terms)


def _is_of_this_machine(argv: tuple[str, ...]) -> bool:
    """Whether a command has paths that mean nothing elsewhere; the program itself is known by its name."""
    return any(one.startswith(("/", "~")) or "=/" in one for one in argv[1:])
