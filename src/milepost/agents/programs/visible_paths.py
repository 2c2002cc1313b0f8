"""What a program must see of the machine to run behind a private root: its package, and what it is run by."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_LONGEST_FIRST_LINE = 512
_MOST_LINKS = 10


def needed_paths(program: Path, *, users_home: Path) -> tuple[Path, ...]:
    """The folders that a program needs, beside what every command sees; never one with the user's home in it."""
    found = dict.fromkeys((*_around(program), *(path for one in _run_by(program) for path in _around(one))))
    secret = Path(os.path.realpath(users_home))
    return tuple(path for path in found if path.exists() and not secret.is_relative_to(os.path.realpath(path)))


def _around(program: Path) -> Iterator[Path]:
    """A program's folder, those of the links to it, and all of its package or its environment."""
    for link in _links(program):
        yield link.parent
        parts = link.parts
        if "node_modules" in parts:  # what it needs may lie beside it: its other packages, one of them for this machine
            yield Path(*parts[: parts.index("node_modules") + 1])
        elif (link.parent.parent / "pyvenv.cfg").is_file() or link.name.startswith("python"):
            yield link.parent.parent


def _run_by(program: Path) -> Iterator[Path]:
    """What a script's first line names, by its whole path; what is looked for on PATH every command sees."""
    try:
        with Path(os.path.realpath(program)).open("rb") as stream:
            first = stream.readline(_LONGEST_FIRST_LINE).decode(errors="replace")
    except OSError:
        return
    named = first.removeprefix("#!").split()
    if first.startswith("#!") and named and named[0].startswith("/"):
        yield Path(named[0])


def _links(path: Path) -> Iterator[Path]:
    """A path and all that it leads to, link by link."""
    for _ in range(_MOST_LINKS):
        yield path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    real = Path(os.path.realpath(path))
    if real != path:
        yield real
