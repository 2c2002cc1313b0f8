"""Which names of agents reach files outside of the repository: a command may read the absolute paths that it names."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from milepost.sandbox.visible_paths import DEVICES, PROGRAMS

# A path begins with a word or within one, such as after an option, an equals sign or a quote, or in a script.
_PATH = re.compile(r"""(?:(?<![\w.~/*?})\]+%@-])|(?<=\s-[A-Za-z])|(?<=^-[A-Za-z]))/[^\s'"`;|&<>(),:=]*""")
_HOME = re.compile(r"""(?<![^\s'"`=:;|&<>(),])~""")
_ABOVE = re.compile(r"(?<![\w.])\.\.(?![\w.])")
_ADDRESS = re.compile(r"""\b(?!file:)[A-Za-z][A-Za-z0-9+.-]*://[^\s'"]*""")


def absolute_paths(words: Iterable[str]) -> Iterator[str]:
    """The absolute paths among the words of a command, also where they are the values of options."""
    values = (word.partition("=")[2] if word.startswith("-") else word for word in words)
    return (value for value in values if value.startswith("/"))


def reaches_outside(name: str) -> bool:
    """Whether the name of an agent has a path that is neither below the folder that it starts from nor among the
    programs of the system, which every command may read; anywhere in it, also in a script.

    A program that is found on PATH has none, wherever it is installed.
    """
    kind, _, rest = name.strip().partition(":")
    if kind == "replay":
        return _leaves(rest.strip())
    if kind != "command":
        return False
    try:
        program, *words = shlex.split(rest) or [""]
    except ValueError:
        return False  # no agent has such a name
    return (is_path(program) and _leaves(program)) or any(map(_names_outside, words))


def is_path(program: str) -> bool:
    """Whether a program is named by its path, and so not looked for on PATH."""
    return "/" in program or program.startswith("~")


def is_led_out(path: str) -> bool:
    """Whether a link leads a relative path out of the folder that it starts from."""
    return not path.startswith("/") and not PurePosixPath(os.path.realpath(path)).is_relative_to(os.path.realpath("."))


def is_outside(path: str) -> bool:
    """Whether an absolute path leads to what is not open to every command: all but the programs of the system.

    What lies in a home is outside even where that is among these, and so is a folder around one.
    """
    real = PurePosixPath(os.path.realpath(path))
    home = PurePosixPath(os.path.realpath(Path.home()))
    if real.is_relative_to(home) or home.is_relative_to(real):
        return True
    return Path(real) not in DEVICES and not any(real.is_relative_to(folder) for folder in PROGRAMS)


def _names_outside(word: str) -> bool:
    """Whether a word of a command, which may be a script, names a path outside."""
    text = _ADDRESS.sub("", word).replace("file://", " ")
    if _HOME.search(text) or _ABOVE.search(text) or any(map(is_outside, absolute_paths([word]))):
        return True
    return any(is_outside(path) for path in _PATH.findall(text))


def _leaves(path: str) -> bool:
    if path.startswith("~") or ".." in PurePosixPath(path).parts:
        return True
    return is_outside(path) if path.startswith("/") else is_led_out(path)
