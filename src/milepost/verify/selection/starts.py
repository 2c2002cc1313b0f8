"""The selections of tests that a command was seen to start, from the notes that its processes left."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from milepost.core.attempt import Workspace
from milepost.verify.selection.line import selection_of
from milepost.verify.selection.selection import CHECKOUT, SCRATCH, Selection

# Variables that come with being started by make, npm or a shell, and those of the recorder itself.
_OF_THE_STARTER = frozenset(
    {"_", "PWD", "OLDPWD", "SHLVL", "PATH", "INIT_CWD", "NODE", "COLOR", "EDITOR", "HOME", "TERM", "SHELL", "LINES"}
    | {"COLUMNS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "MAKE_TERMERR", "MAKE_TERMOUT", "NODE_OPTIONS"}
    | {"VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "PYTEST_CURRENT_TEST", "PYTEST_VERSION", "NODE_TEST_CONTEXT", "UV"}
)
_PREFIXES = ("npm_", "MILEPOST_", "BASH_FUNC_", "UV_", "PNPM_", "POETRY_", "VITEST_", "JEST_")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedTests:
    """A process that runs tests. `words` are what pytest or unittest was given, `tests` what unittest found by them.

    `passed`: it said itself that all is well, so that a test which fails for the engine is not run as it was there.
    """

    kind: str
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    tests: tuple[tuple[str, str, str], ...] = ()
    passed: bool = False


def selections_of(
    starts: tuple[StartedTests, ...], plain: Mapping[str, str], workspace: Workspace
) -> tuple[Selection, ...]:
    """Each selection once; `plain` are the variables that the command itself was started with."""
    found = (_selection(start, plain, workspace) for start in starts)
    return tuple(dict.fromkeys(selection for selection in found if selection is not None))


def _selection(start: StartedTests, plain: Mapping[str, str], workspace: Workspace) -> Selection | None:
    folder = _relative(start.cwd, workspace)
    if folder is None:
        return None  # a run in a folder of its own is a test of something else
    if start.kind == "pytest":
        found = selection_of(("pytest", *start.words), folder)
    elif start.kind == "unittest":
        found = _of_unittest(start, folder, workspace)
    else:
        found = selection_of(start.argv, folder)
    if found is None:
        return None
    env = {name: portable(value, workspace) for name, value in _added(start.env, plain).items()}
    words = tuple(portable(word, workspace) for word in found.words)
    return replace(found, words=words, env=tuple(sorted({**dict(found.env), **env}.items())))


def _of_unittest(start: StartedTests, folder: str, workspace: Workspace) -> Selection | None:
    """By its words where it was called by them, else by what it found: the files, or the tests that words chose."""
    if (called := selection_of(start.argv, folder)) and called.runner == "unittest":
        return called
    chosen = any(not word.startswith("-") for word in start.words)
    files = [(_relative(file, workspace), group, name) for file, group, name in start.tests]
    ids = ["::".join((file, group.replace(".", "::"), name)) if chosen else file for file, group, name in files if file]
    top = f"{folder}/" if folder else ""
    inside = tuple(dict.fromkeys(each.removeprefix(top) for each in ids if each.startswith(top)))
    return Selection(runner="unittest", words=inside, folder=folder) if inside else None


def portable(text: str, workspace: Workspace) -> str:
    """The text with the folders that are others each time named, not spelt."""
    for folder, name in ((workspace.folder, CHECKOUT), (workspace.scratch, SCRATCH)):
        for spelt in dict.fromkeys((str(folder), os.path.realpath(folder))):
            text = text.replace(spelt, name)
    return text


def placed(text: str, workspace: Workspace) -> str:
    """The text as it reads in this checkout."""
    return text.replace(CHECKOUT, str(workspace.folder)).replace(SCRATCH, str(workspace.scratch))


def _added(env: Mapping[str, str], plain: Mapping[str, str]) -> dict[str, str]:
    """The variables that something between the command and the process has set."""
    return {
        name: value
        for name, value in env.items()
        if plain.get(name) != value and name not in _OF_THE_STARTER and not name.startswith(_PREFIXES)
    }


def _relative(path: str, workspace: Workspace) -> str | None:
    found = posixpath.relpath(os.path.realpath(path), os.path.realpath(workspace.folder))
    return None if found.startswith("..") else "" if found == "." else found
