"""What an attempt left in a checkout: made readable again, and refused where it is more than anybody could take in.

Sizes are those that a file claims: one that is all holes takes no space, and still has to be read byte by byte.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_MEGABYTE = 1_000_000
_LONGEST_SHOWN = 200
# Git reads these whole wherever it finds them, and waits for whoever writes into one that is a pipe.
_READ_BY_GIT = (".gitignore", ".gitattributes", ".gitmodules")
_LARGEST_READ_BY_GIT = 10 * _MEGABYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftLimits:
    """How much an attempt may leave, by the names of the settings: in one file, in all that it changed, in number.

    `checkout_files` counts all that is there, also what git ignores.
    """

    file_mb: int = 100
    change_mb: int = 1000
    change_files: int = 50_000
    checkout_files: int = 2_000_000


class TooMuch(Exception):
    """Says in a line what nobody could take in, and what to do about it."""


@dataclass(slots=True)
class Left:
    """What is in a checkout, also what git ignores: folders with a repository inside, the files and their bytes."""

    repositories: list[str] = field(default_factory=list)
    files: int = 0
    total: int = 0
    largest: int = 0

    def is_little(self, limits: LeftLimits, tracked: int) -> bool:
        """Whether all of it could be a change and be taken in, and that all `tracked` files are gone as well."""
        return (
            self.files + tracked <= limits.change_files
            and self.largest <= limits.file_mb * _MEGABYTE
            and self.total <= limits.change_mb * _MEGABYTE
        )


def open_up(folder: Path, limits: LeftLimits) -> Left:
    """Give back the rights that an agent took from its own files; gives what there is."""
    left = Left()
    todo, seen = [str(folder)], 0
    _allow(folder, stat.S_IRWXU)
    while todo:
        place = todo.pop()
        entries = _entries(place, limits.checkout_files - seen)
        seen += len(entries)
        if seen > limits.checkout_files:
            raise _too_much(f"more than {limits.checkout_files} files", "checkout_files")
        for entry in entries:
            if entry.name in _READ_BY_GIT:
                _require_readable(entry, folder)
            if entry.name == ".git":
                left.repositories.append(os.path.relpath(place, folder))
            elif entry.is_dir(follow_symlinks=False):
                _allow(entry, stat.S_IRWXU)
                todo.append(entry.path)
            else:
                left.files += 1
                if entry.is_file(follow_symlinks=False):
                    size = _allow(entry, stat.S_IRUSR)
                    left.total += size
                    left.largest = max(left.largest, size)
    left.repositories = sorted(path for path in left.repositories if path != ".")
    return left


def require_little(folder: Path, changed: Iterable[str], limits: LeftLimits) -> None:
    """Raise TooMuch where the files that an attempt changed are too many or too large to be read."""
    total = 0
    for number, name in enumerate(changed, start=1):
        if number > limits.change_files:
            raise _too_much(f"more than {limits.change_files} changed files", "change_files")
        size = _size(folder / name)
        total += size
        if size > limits.file_mb * _MEGABYTE:
            what = f"{_shown(name)} with {_megabytes(size)} MB, where {limits.file_mb} MB are allowed"
            raise _too_much(what, "file_mb")
        if total > limits.change_mb * _MEGABYTE:
            raise _too_much(f"more than {limits.change_mb} MB in changed files", "change_mb")


def _require_readable(entry: os.DirEntry[str], folder: Path) -> None:
    facts = entry.stat(follow_symlinks=False)
    name = _shown(str(Path(entry.path).relative_to(folder)))
    if stat.S_ISFIFO(facts.st_mode):
        raise TooMuch(f"the attempt left {name} as a pipe, which git would wait for: remove it")
    if facts.st_size > _LARGEST_READ_BY_GIT:
        raise TooMuch(f"the attempt left {name} with {_megabytes(facts.st_size)} MB, which git would read: shorten it")


def entries_of(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, nothing where it cannot be looked into."""
    with suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _entries(folder: str, most: int) -> list[os.DirEntry[str]]:
    """The same, but no more than one over `most`."""
    found: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found.append(entry)
            if len(found) > most:
                break
    return found


def _size(path: Path) -> int:
    """How many bytes a plain file claims to have; none for all else, and for what is gone."""
    with suppress(OSError):
        facts = path.lstat()
        return facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    return 0


def _allow(path: Path | os.DirEntry[str], rights: int) -> int:
    """Give rights where they are missing; how many bytes it has."""
    with suppress(OSError):  # a path that is too long can neither be opened nor committed
        facts = path.stat(follow_symlinks=False)
        if facts.st_mode & rights != rights:
            Path(path).chmod(facts.st_mode | rights)
        return facts.st_size
    return 0


def _too_much(what: str, setting: str) -> TooMuch:
    return TooMuch(
        f"the attempt left {what}: remove it, let .gitignore name it, "
        f"or raise {setting} under [limits] in milepost.toml"
    )


def _shown(name: str) -> str:
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _megabytes(size: int) -> int:
    return -(-size // _MEGABYTE)
