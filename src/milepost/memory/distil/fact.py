"""Lessons of fact: by which tool a check of this project is done."""

from __future__ import annotations

from milepost.core.memories import Lesson
from milepost.memory.distil import wording
from milepost.memory.distil.making import lesson
from milepost.memory.experience import Experience

CHECKS = ("tests", "lint", "types", "build", "format", "coverage")
MOST_LESSONS = 4
SOURCE = "a check of the engine's"

# Only what is known by name: the name of a program is somebody's text, too.
_TOOLS_WORDS = """
    ava bazel biome black bun bundle cargo ctest deno dotnet eslint flake8 gcc go gofmt gradle hatch isort jest just
    lerna make maven meson mix mocha mvn mypy ninja nose2 nox npm nx pdm phpunit pnpm poetry prettier pylint pyright
    pytest rake rspec rubocop ruff rustc rustfmt sbt standard stylelint swift tap tox tsc turbo ty unittest uv
    vitest xo yarn
"""
_TOOLS = frozenset(_TOOLS_WORDS.split())


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One for each check that passed by a tool that is known."""
    accepted = experience.accepted
    found: dict[str, Lesson] = {}
    for check in accepted.checks if accepted else ():
        tools = [tool for word in check.argv[:4] if (tool := word.rpartition("/")[2]) in _TOOLS]
        if check.exit_code == 0 and tools and check.name in CHECKS:
            made = _lesson(experience, check.name, tools[-1])
            found.setdefault(made.id, made)
    return tuple(found.values())[:MOST_LESSONS]


def _lesson(experience: Experience, check: str, tool: str) -> Lesson:
    text = wording.fact(check, tool)
    terms = (tool, check, "run", "tool")
    return lesson("fact", experience, subject=f"{check} {tool}", text=text, source=SOURCE, terms=terms)
