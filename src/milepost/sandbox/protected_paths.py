"""What no guest may change in a folder of the user's: `.git` and `.milepost`, in any spelling and wherever they are.

The kernel keeps what is there as it is while a guest runs. What a guest adds under such a name is moved out of the way
when it has ended, because nothing can be mounted where nothing is.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from milepost.sandbox.open_folder import folder_of, opened
from milepost.sandbox.walls.disk import made_at_ns

WHY = "nothing that runs in the sandbox may change .git or .milepost"
_GIT = (".git", "git~1")  # the second is what Windows calls it
_OURS = (".milepost", "milepo~1")
_LONGEST_POINTER = 4096
_MOST_MOVED_AWAY = 1000


def is_git_name(name: str) -> bool:
    """Whether a file system might take a name for `.git`: it may fold case, and drop what cannot be seen."""
    return _folded(name) in _GIT


def is_protected_name(name: str) -> bool:
    """The same for all names that are protected."""
    return _folded(name) in (*_GIT, *_OURS)


def is_protected(path: PurePosixPath) -> bool:
    """Whether a path in a folder leads to a protected name, or below one."""
    return any(map(is_protected_name, path.parts))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What stood under a protected name: which file it is and when it was made, and where it leads if it is a link."""

    file: tuple[int, int, int]
    leads_to: str | None


class Guard:
    """Knows what is protected in some folders before a guest runs, and takes away what it put under such names."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._tops = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
        self._before = {path: seen for path in self._named() if (seen := _seen(path)) is not None}

    def paths(self) -> tuple[Path, ...]:
        """The real paths to keep as they are, with the repositories in these folders that a `.git` only points to."""
        found = {top: None for top in self._tops if is_protected(PurePosixPath(top))}
        for path in self._before:
            for real in (path, *_pointed_at(path)):
                if not real.is_symlink() and any(map(real.is_relative_to, self._tops)):
                    found[real] = None
        return tuple(path for path in found if not any(above in found for above in path.parents))

    def clear(self) -> tuple[str, ...]:
        """Move away what a guest put under a protected name, and say so in a line each."""
        known = {seen.file for seen in self._before.values()}
        told = []
        for path in list(self._named()):
            seen = _seen(path)
            if seen is not None and seen.file not in known:
                told.append(f"{path}: {WHY}; {self._move_away(path)}")
        for path, seen in tuple(self._before.items()):
            if seen.leads_to is not None and not os.path.lexists(path):
                with suppress(OSError):
                    path.symlink_to(seen.leads_to)
                    self._before[path] = _seen(path) or seen
        return tuple(told)

    def _named(self) -> Iterator[Path]:
        """All below the folders that has a protected name, outermost only; no link is followed."""
        todo = [str(top) for top in self._tops if not is_protected(PurePosixPath(top))]
        while todo:
            with suppress(OSError), os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if is_protected_name(entry.name):
                        yield Path(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)

    def _move_away(self, path: Path) -> str:
        top = next(top for top in self._tops if path.is_relative_to(top))
        try:
            with opened(top) as start, folder_of(PurePosixPath(path.relative_to(top)), start) as folder:
                taken = set(os.listdir(folder))  # noqa: PTH208 - by descriptor
                names = (f"{path.name.strip('. ')}.refused-{number}" for number in range(1, _MOST_MOVED_AWAY))
                new = next(name for name in names if name not in taken)
                os.rename(path.name, new, src_dir_fd=folder, dst_dir_fd=folder)
        except (OSError, StopIteration):
            return "remove what was put there"
        return f"what was put there is now {new!r}"


def _folded(name: str) -> str:
    if not name.isascii():
        visible = (each for each in unicodedata.normalize("NFKC", name) if unicodedata.category(each) != "Cf")
        name = "".join(visible)
    return name.casefold().partition(":")[0].rstrip(". ")


def _seen(path: Path) -> _Seen | None:
    try:
        facts = path.lstat()
        leads_to = str(path.readlink()) if stat.S_ISLNK(facts.st_mode) else None
    except OSError:
        return None
    return _Seen((facts.st_dev, facts.st_ino, made_at_ns(str(path))), leads_to)


def _pointed_at(path: Path) -> Iterator[Path]:
    """Where a `.git` that is a link or a file says that the repository is."""
    with suppress(OSError):
        if path.is_symlink():
            yield Path(os.path.realpath(path))
        elif path.is_file():
            with path.open("rb") as file:
                word, _, place = os.fsdecode(file.read(_LONGEST_POINTER)).strip().partition(" ")
            if word == "gitdir:" and "\0" not in place:
                yield Path(os.path.realpath(path.parent / place))
