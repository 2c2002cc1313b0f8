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
    """Whether the name of an agent names a path above the folder that it starts from, one that a link leads out of it,
    or one that is private: in a home, of the system, or a folder around these. A program that is found on PATH is
    none of these, wherever it is installed."""
    kind, _, rest = name.strip().partition(":")
    if kind == "replay":
        return _leaves(rest.strip())
    if kind != "command":
        return False
    try:
        program, *words = shlex.split(rest) or [""]
    except ValueError:
        return False  # no agent has such a name
    return (is_path(program) and _leaves(program)) or any(map(is_private, absolute_paths(words)))


def is_path(program: str) -> bool:
    """Whether a program is named by its path, and so not looked for on PATH."""
    return "/" in program or program.startswith("~")


def is_led_out(path: str) -> bool:
    """Whether a link leads a relative path out of the folder that it starts from."""
    return not path.startswith("/") and not PurePosixPath(os.path.realpath(path)).is_relative_to(os.path.realpath("."))


def is_private(path: str) -> bool:
    """Whether a path leads into a home or to what a system keeps to itself, or is a folder around these."""
    real = PurePosixPath(os.path.realpath(path))
    private = [*map(PurePosixPath, _PRIVATE), PurePosixPath(os.path.realpath(Path.home()))]
    return any(real.is_relative_to(one) or one.is_relative_to(real) for one in private)


def _leaves(path: str) -> bool:
    if path.startswith("~") or ".." in PurePosixPath(path).parts:
        return True
    return is_private(path) if path.startswith("/") else is_led_out(path)
