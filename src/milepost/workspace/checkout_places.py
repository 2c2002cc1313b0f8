"""Where checkouts lie: at a path without a folder that begins with a dot, where the machine has one for us.

Servers and file watchers leave out what lies in a dot folder, and so their tests fail below `~/.cache`. Links are
resolved here, once: what runs in a checkout is told its real path by the kernel, and compares that with ours.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

SHARED = Path("/var/tmp")  # noqa: S108 - only a folder of the user's own in it is used
_OF_TESTS = ("test", "spec", "jest", "mocha", "tox", "nose")
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def checkouts_folder(state: Path, named: str = "", *, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the checkouts of a state directory go; `named` is the folder that the settings want them in."""
    if named:
        return _below(Path(named).expanduser(), state)
    cache = cache_root(environ)
    if has_dot_folder(cache) and (ours := _own_folder(SHARED)) is not None:
        return _below(ours, state)
    return _below(cache, state)


def earlier_folders(state: Path, named: str = "", *, environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Where else checkouts of a state directory may have been left, under other settings or by an earlier version."""
    shared = _name_in(SHARED)
    roots = (cache_root(environ), *((shared,) if _is_ours(shared) else ()))
    now = checkouts_folder(state, named, environ=environ)
    return tuple(folder for root in roots if (folder := _below(root, state)) != now)


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Milepost's folder in the user's cache."""
    return real(Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "milepost")


def has_dot_folder(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def real(path: Path) -> Path:
    """The path with all links resolved, also where it is not there yet."""
    return Path(os.path.realpath(path))  # Path.resolve raises on a loop of links


def _below(root: Path, state: Path) -> Path:
    at = real(state.parent) / state.name  # a link in its place would be another project's name
    name = hashlib.sha256(os.fsencode(at)).hexdigest()[:12]
    return real(at.parent / root) / f"{neutral_name(at.parent.name)}-{name}"


def neutral_name(name: str) -> str:
    """The name of a folder, unless it speaks of tests: what runs there must not look like a test run by its path."""
    return "project" if any(word in name.lower() for word in _OF_TESTS) else name


def _own_folder(shared: Path) -> Path | None:
    """Our folder in one that all users share, made if need be; None where it is not ours or programs cannot run."""
    place = _name_in(shared)
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        may_run = not os.statvfs(place).f_flag & os.ST_NOEXEC
    except OSError:
        return None
    return place if may_run and _is_ours(place) else None


def _is_ours(place: Path) -> bool:
    """Whether it is a real folder that nobody else can write to: others may have put something in its place."""
    try:
        found = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def _name_in(shared: Path) -> Path:
    return real(shared) / f"milepost-{os.geteuid()}"
