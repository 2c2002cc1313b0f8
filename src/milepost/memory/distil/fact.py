"""Lessons of fact: the tools by which this project's checks passed."""

from __future__ import annotations

from milepost.core.memories import Lesson
from milepost.memory.distil import wording
from milepost.memory.distil.making import lesson, source_of
from milepost.memory.experience import Experience

# Only what is known by name: the name of a program is somebody's text, too.
_TOOLS_WORDS = """
    ava bazel biome black bun bundle cargo ctest deno dotnet eslint flake8 gcc go gofmt gradle hatch isort jest just
    lerna make maven meson mix mocha mvn mypy ninja nose2 nox npm nx pdm phpunit pnpm poetry prettier pylint pyright
    pytest rake rspec rubocop ruff rustc rustfmt sbt standard stylelint swift tap tox tsc turbo ty unittest uv
    vitest xo yarn
"""
_TOOLS = frozenset(_TOOLS_WORDS.split())


def lessons(experience: Experience) -> tuple[Lesson, ...]:
    """One, of all known tools among the commands that ended with exit 0 for what passed."""
    accepted = experience.accepted
    checks = [check for check in accepted.checks if check.exit_code == 0] if accepted else []
    words = {word.rpartition("/")[2] for check in checks for word in check.argv[:4]}
    tools = sorted(words & _TOOLS)
    if not tools or accepted is None:
        return ()
    source = source_of(accepted.commit, "checks of the engine's")
    terms = (*tools, "tests", "lint", "run", "tool")
    return (lesson("fact", experience, subject="tools", text=wording.fact(tools), source=source, terms=terms),)
