"""What a checkout needs beside its own files to be verified: interpreter, packages, variables."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from milepost.verify.suites.python_project import ProjectPython

# What tools write beside packages: each checkout has its own, and each command a fresh one.
_CACHES = frozenset({".cache", ".vite", ".vite-temp", ".vitest", ".tmp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A folder of the checkout, real and writable, whose entries are links to those of `target`.

    `top` is the folder that stands for the checkout's own top where `target` lies: an entry that is itself a link to a
    package of the same project leads to the checkout's package, never to the one that was there when it was installed.
    """

    path: str
    target: Path
    top: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What commands in one checkout are run with.

    `lock` is a hash over what the project declares that it needs, empty when it declares nothing. `origin` says how
    it was got, one line each. `problem` is why something could not be got: what is here then is what there was.
    """

    interpreter: ProjectPython | None = None
    links: tuple[Link, ...] = ()
    readable: tuple[Path, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    lock: str = ""
    origin: tuple[str, ...] = ()
    problem: str = ""


def lay(links: tuple[Link, ...], checkout: Path) -> None:
    """Make the links in a checkout, or make them right again where a command that ran before changed them.

    What the commit itself brings is left alone by not being linked at all: see `Node`.
    """
    for link in links:
        _lay(_wanted(link, checkout), checkout, Path(link.path))


def _lay(wanted: Mapping[str, str], checkout: Path, folder: Path) -> None:
    place = _own_folder(checkout, folder)
    for name in sorted({Path(path).parent.as_posix() for path in wanted} - {"."}):
        _own_folder(place, Path(name))
    for found in list(_names(place)):
        if found not in wanted:
            _remove(place / found)
    for path, target in wanted.items():
        entry = place / path
        if not (entry.is_symlink() and str(entry.readlink()) == target):
            _remove(entry)
            entry.symlink_to(target)


def _wanted(link: Link, checkout: Path) -> dict[str, str]:
    """The entries of a linked folder and what each leads to; those of a scope (`@scope/name`) one by one."""
    wanted = {}
    for name in _names(link.target):
        if name in _CACHES:
            continue
        source = link.target / name
        real = Path(os.path.realpath(source))
        inside = real.relative_to(link.top) if source.is_symlink() and real.is_relative_to(link.top) else None
        own = inside is not None and "node_modules" not in inside.parts
        wanted[name] = str(checkout / inside) if inside is not None and own else str(source)
    return wanted


def _names(folder: Path) -> Iterator[str]:
    with suppress(OSError):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.name.startswith("@") and entry.is_dir(follow_symlinks=False):
                yield from (f"{entry.name}/{inside.name}" for inside in os.scandir(entry.path))
            else:
                yield entry.name


def _own_folder(top: Path, folder: Path) -> Path:
    """The folder, made where it is not; a link or a file in its place, that would lead elsewhere, is removed."""
    place = top
    for part in folder.parts:
        place = place / part
        if place.is_symlink() or not place.is_dir():
            _remove(place)
            place.mkdir()
    return place


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
