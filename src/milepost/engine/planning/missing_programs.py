"""Which programs of Verify lines this machine surely does not have."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from milepost.core.task import Task
from milepost.sandbox.command_risk.kinds import Piece, Unreadable
from milepost.sandbox.command_risk.wrappers import inner_pieces
from milepost.verify.programs.command_line import argv_of
from milepost.verify.programs.poetry_envs import kept_elsewhere

MOST_LINES = 2_000

_BUILTINS = (
    ". : [ alias bg break builtin case cd command continue declare dirs echo eval exec exit export false fg for "
    "function getopts hash history if jobs kill let local popd printf pushd pwd read readonly return select set "
    "shift shopt source test time times trap true type typeset ulimit umask unalias unset until wait while"
)
# What checks are given whatever is installed here.
_GIVEN = "python python3 pip pip3 pytest py.test"
# Programs that no package of a project brings along: where they are missing, installing the project does not help.
_OF_THE_SYSTEM = (
    "bash bun cargo cmake composer curl deno docker dotnet gcc g++ git go gradle grep java javac jq julia make mvn "
    "node npm npx perl php podman psql ruby rustc sed sqlite3 swift wget yarn zig"
)
_MANIFEST = re.compile(
    r"pyproject\.toml|setup\.(cfg|py)|Pipfile|requirements[\w.-]*\.txt|environment\.ya?ml|package\.json|Gemfile"
    r"|Cargo\.toml|composer\.json|go\.mod|mise\.toml|\.tool-versions|(flake|shell|devenv)\.nix|Brewfile|tox\.ini"
)
_ENVIRONMENTS = (".venv/bin", "venv/bin", "env/bin", "node_modules/.bin", "vendor/bin")
_RUN_OTHERS = "npx uvx bunx uv poetry pipenv pdm rye hatch conda npm pnpm yarn bun bundle docker podman"
_NAME = re.compile(r"[A-Za-z0-9_.+@-]+")
_FUNCTION = re.compile(r"([\w-]+)\s*\(\s*\)")
_LARGEST_MANIFEST, _DEEPEST = 200_000, 20
_NEVER_MISSING, _SYSTEM = frozenset(f"{_BUILTINS} {_GIVEN}".split()), frozenset(_OF_THE_SYSTEM.split())
_RUNNERS = frozenset(_RUN_OTHERS.split())


def missing_programs(tasks: Sequence[Task], top: Path, files: Collection[str]) -> dict[str, tuple[str, ...]]:
    """For the Verify lines of open tasks, the programs that are not found; a line that names none such is left out.

    What the project may bring along once its packages are installed, or a task may make or install, is not missing.
    """
    opened = [task for task in tasks if task.status == "open"]
    lines = dict.fromkeys(line for task in opened for part in task.walk() for line in part.verify)
    look = _Look(top, files, opened)
    found = {line: tuple(look.missing(line)) for line in list(lines)[:MOST_LINES]}
    return {line: names for line, names in found.items() if names}


class _Look:
    """Looks for programs where a check would find them, each once."""

    def __init__(self, top: Path, files: Collection[str], tasks: Sequence[Task]) -> None:
        self._top, self._files, self._tasks = top, files, tasks
        self._known: dict[str, bool] = {}

    def missing(self, line: str) -> Iterator[str]:
        own = set(_FUNCTION.findall(line))
        for name, cwd in dict.fromkeys(programs_of(line)):
            if name not in _NEVER_MISSING and name not in own and not self._is_there(name, cwd):
                yield name

    def _is_there(self, name: str, cwd: str) -> bool:
        if "/" in name:
            return self._is_path(name, cwd)
        if name not in self._known:
            self._known[name] = bool(shutil.which(name)) or self._is_of_the_project(name, cwd)
        return self._known[name]

    def _is_path(self, name: str, cwd: str) -> bool:
        if name.startswith("/"):
            return os.access(name, os.F_OK)
        path = posixpath.normpath(posixpath.join(cwd, name))
        if path in self._files or path.startswith("..") or os.access(self._top / path, os.F_OK):
            return True
        in_environment = any(f"/{path}".rpartition("/")[0].endswith(f"/{place}") for place in _ENVIRONMENTS)
        return in_environment or bool({path, name, posixpath.basename(path)} & self._spoken)

    def _is_of_the_project(self, name: str, cwd: str) -> bool:
        places = [self._top / folder / place for folder in {"", cwd} for place in _ENVIRONMENTS]
        places += [environment / "bin" for environment in kept_elsewhere(self._top, os.environ)]
        if any(os.access(place / name, os.F_OK) for place in places) or name in self._spoken or name in self._declared:
            return True
        return name not in _SYSTEM and self._may_be_installed

    @cached_property
    def _manifests(self) -> tuple[str, ...]:
        return tuple(path for path in self._files if _MANIFEST.fullmatch(path.rpartition("/")[2]))

    @cached_property
    def _may_be_installed(self) -> bool:
        """Whether the project declares packages, and none are installed where we could see them."""
        return bool(self._manifests) and not any((self._top / place).is_dir() for place in _ENVIRONMENTS)

    @cached_property
    def _declared(self) -> frozenset[str]:
        """The words of what declares packages at the top."""
        words: set[str] = set()
        for path in (self._top / path for path in self._manifests if "/" not in path):
            with suppress(OSError):  # it may be gone, or a link to nowhere
                if path.stat().st_size <= _LARGEST_MANIFEST:
                    words.update(re.findall(r"[\w.-]+", path.read_text(errors="replace")))
        return frozenset(words)

    @cached_property
    def _spoken(self) -> frozenset[str]:
        """The words of tasks, which may be to install or to make what is looked for."""
        parts = [part for task in self._tasks for part in task.walk()]
        words = (word.strip(".") for part in parts for word in re.findall(r"[\w./+@-]+", f"{part.title} {part.text}"))
        named = {file for part in parts for file in part.files}
        return frozenset({*words, *named, *map(posixpath.basename, named)})


def programs_of(line: str) -> Iterator[tuple[str, str]]:
    """The programs that a Verify line starts, each with the folder of the repository that it is started in.

    What only a shell could know, such as a variable, is left out; so is all of a line that cannot be read.
    """
    argv = argv_of(line)
    try:
        pieces = list(_started(Piece(words=argv))) if argv else []
    except Unreadable:
        return
    for piece in pieces:
        name = piece.words[0] if piece.words else ""
        is_known = _NAME.fullmatch(name.replace("/", "")) is not None and not name.startswith("-")
        from_here = re.match(r"[/~$?]", piece.cwd) is None
        if is_known and not piece.elsewhere and (from_here or not name.startswith(".")):
            yield name, piece.cwd if from_here else ""


def _started(piece: Piece) -> Iterator[Piece]:
    """A piece and what it starts, but not what a tool of the project starts inside of its own environment."""
    todo = [(piece, 0)]
    while todo:
        one, depth = todo.pop(0)
        if depth > _DEEPEST:
            raise Unreadable
        yield one
        if one.name not in _RUNNERS and not re.match(r"(python|pypy)[\d.]*$", one.name):
            todo[:0] = [(inner, depth + 1) for inner in inner_pieces(one)]
