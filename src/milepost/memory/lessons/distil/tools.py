"""The tools that checks are done by, as far as they are known by name."""

from __future__ import annotations

from collections.abc import Sequence

# Only what is known by name: the name of a program is somebody's text, too.
_TOOLS_WORDS = """
    ava bazel biome black bun bundle cargo ctest deno dotnet eslint flake8 gcc go gofmt gradle hatch isort jest just
    lerna make maven meson mix mocha mvn mypy ninja nose2 nox npm nx pdm phpunit pnpm poetry prettier pylint pyright
    pytest rake rspec rubocop ruff rustc rustfmt sbt standard stylelint swift tap tox tsc turbo ty unittest uv
    vitest xo yarn
"""
_TOOLS = frozenset(_TOOLS_WORDS.split())


def tool_in(argv: Sequence[str]) -> str:
    """The known tool that a command runs; empty where none is."""
    words = [word.rpartition("/")[2] for word in argv[:4]]
    return next((word for word in reversed(words) if word in _TOOLS), "")
