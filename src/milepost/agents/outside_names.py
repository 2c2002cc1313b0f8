"""Which names of agents reach files that are somebody's own: a command may read the absolute paths that it names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

# Below these lie the homes of people, and what a system keeps to itself.
_PRIVATE = ("/root", "/home", "/Users", "/etc", "/proc", "/sys", "/run", "/boot", "/var/lib", "/var/log", "/var/spool")


def absolute_paths(words: Iterable[str]) -> Iterator[str]:
    """The absolute paths among the words of a command, also where they are the values of options."""
    values = (word.partition("=")[2] if word.startswith("-") else word for word in words)
    return (value for value in values if value.startswith("/"))


def reaches_outside(name: str) -> bool:
    """Whether the name of an agent names a path above the folder that it starts from, or one that is private: in a
    home, of the system, or a folder around these. The program itself may be installed in a home."""
    kind, _, rest = name.strip().partition(":")
    if kind == "replay":
        return _leaves(rest.strip())
    if kind != "command":
        return False
    try:
        program, *words = shlex.split(rest) or [""]
    except ValueError:
        return False  # no agent has such a name
    return (_leaves(program) and not _is_program(program)) or any(map(is_private, absolute_paths(words)))


def is_private(path: str) -> bool:
    """Whether a path leads into a home or to what a system keeps to itself, or is a folder around these."""
    real = PurePosixPath(os.path.realpath(path))
    private = [*map(PurePosixPath, _PRIVATE), PurePosixPath(os.path.realpath(Path.home()))]
    return any(real.is_relative_to(one) or one.is_relative_to(real) for one in private)


def _leaves(path: str) -> bool:
    return ".." in PurePosixPath(path).parts or (path.startswith("/") and is_private(path))


def _is_program(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)
