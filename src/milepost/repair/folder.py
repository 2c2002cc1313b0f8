"""The files of a checkout that an agent left, read and written without following a single link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from milepost.core.machine_failure import machine_failure

LARGEST_FILE = 4_000_000
MOST_FILES = 50_000
UNLISTED = frozenset({".git", ".milepost", ".venv", "venv", "node_modules", "__pycache__", "site-packages", ".tox"})

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class OutOfReach(Exception):
    """Says why a path cannot be written: a link on the way, git's own files, no plain file."""


class Folder:
    """A checkout by paths relative to it. What is no plain file below it is not there.

    The listing is kept until something is written here: a program that ran in between may have added files to it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listed: tuple[str, ...] | None = None

    def read(self, path: str) -> bytes | None:
        """The bytes of a plain file of a sane size, else None."""
        with suppress(OutOfReach, OSError), self._parent(path) as (parent, name):
            file = os.open(name, os.O_RDONLY | _FILE, dir_fd=parent)
            try:
                facts = os.fstat(file)
                if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_FILE:
                    return None
                with open(file, "rb", closefd=False) as stream:
                    return stream.read(LARGEST_FILE)
            finally:
                os.close(file)
        return None

    def text(self, path: str) -> str | None:
        """The text of a plain file in UTF-8, line ends as they are, else None."""
        content = self.read(path)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            return None

    def mode(self, path: str) -> int | None:
        """The kind and rights of what is at `path`, be it a link; None where nothing is."""
        with suppress(OutOfReach, OSError), self._parent(path) as (parent, name):
            return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        return None

    def is_file(self, path: str) -> bool:
        return stat.S_ISREG(self.mode(path) or 0)

    def is_folder(self, path: str) -> bool:
        return path in ("", ".") or stat.S_ISDIR(self.mode(path) or 0)

    def write(self, path: str, content: bytes) -> None:
        """Make a plain file hold `content`, its folders made on the way; raises OutOfReach."""
        with self._writing(path), self._parent(path, make=True) as (parent, name):
            file = os.open(name, os.O_WRONLY | os.O_CREAT | _FILE, 0o666, dir_fd=parent)
            try:
                facts = os.fstat(file)
                if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1:
                    raise OutOfReach(f"{path} is no plain file of its own")
                os.ftruncate(file, 0)
                with open(file, "wb", closefd=False) as stream:
                    stream.write(content)
            finally:
                os.close(file)

    def set_mode(self, path: str, mode: int) -> None:
        """Give a plain file these rights; raises OutOfReach."""
        with self._writing(path), self._parent(path) as (parent, name):
            file = os.open(name, os.O_RDONLY | _FILE, dir_fd=parent)
            try:
                os.fchmod(file, stat.S_IMODE(mode))
            finally:
                os.close(file)

    def link(self, path: str, target: str) -> None:
        """Make `path` a link, whatever file was there before; raises OutOfReach."""
        self.remove(path)
        with self._writing(path), self._parent(path, make=True) as (parent, name):
            os.symlink(target, name, dir_fd=parent)

    def target(self, path: str) -> str | None:
        """Where a link leads, None for what is no link."""
        with suppress(OutOfReach, OSError), self._parent(path) as (parent, name):
            return os.readlink(name, dir_fd=parent)
        return None

    def remove(self, path: str) -> None:
        """Remove a file or a link, and the folders that it leaves empty; raises OutOfReach."""
        with self._writing(path):
            with suppress(FileNotFoundError, NotADirectoryError), self._parent(path) as (parent, name):
                os.unlink(name, dir_fd=parent)
            for above in list(PurePosixPath(path).parents)[:-1]:
                with suppress(OutOfReach, OSError), self._parent(str(above)) as (parent, name):
                    os.rmdir(name, dir_fd=parent)

    def paths(self) -> tuple[str, ...]:
        """All plain files, sorted, but not those of folders that tools fill."""
        if self._listed is None:
            self._listed = self._walk()
        return self._listed

    def _walk(self) -> tuple[str, ...]:
        found: list[str] = []
        for place, folders, files in os.walk(self._root):
            folders[:] = sorted(set(folders) - UNLISTED)
            at = Path(place).relative_to(self._root)
            found += [(at / name).as_posix() for name in files if not (Path(place) / name).is_symlink()]
            if len(found) > MOST_FILES:
                break
        return tuple(sorted(path for path in found[:MOST_FILES] if _is_text(path)))

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that holds `path`, open, and the last part of its name."""
        parts = _parts(path)
        folder = os.open(self._root, _FOLDER)
        try:
            for part in parts[:-1]:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            yield folder, parts[-1]
        finally:
            os.close(folder)

    @contextmanager
    def _writing(self, path: str) -> Iterator[None]:
        self._listed = None
        try:
            yield
        except OSError as problem:
            if failure := machine_failure(problem, path):
                raise failure from problem
            raise OutOfReach(f"{path}: {problem.strerror}") from problem


def is_inside(path: str) -> bool:
    """Whether a relative path stays in its folder and out of git's own files."""
    pure = PurePosixPath(path)
    unfit = pure.is_absolute() or not pure.parts or ".." in pure.parts or "\0" in path or not _is_text(path)
    return not unfit and not any(_is_git(part) for part in pure.parts)


def _parts(path: str) -> tuple[str, ...]:
    if not is_inside(path):
        raise OutOfReach(f"{path!r} is not a path in the checkout")
    return PurePosixPath(path).parts


def _is_git(part: str) -> bool:
    """Git's own folder, also as file systems that fold names would read it."""
    plain = part.casefold().replace("\u200c", "").replace("\u200d", "").rstrip(". ")
    return plain in (".git", "git~1") or plain.startswith(".git::")


def _is_text(path: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in path)
