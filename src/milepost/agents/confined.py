"""Files of one folder, read and written without ever leaving it.

The folder's content is written by agents, so a link, a pipe or a folder swapped for a link at
the wrong instant may be a trap. A path is resolved once; the walk to what it names then opens
one component after the other and follows no link, so that it ends inside the folder or nowhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from milepost.core.machine_failure import machine_failure

LARGEST_FILE_BYTES = 10_000_000
UNLISTED_FOLDERS = frozenset({".git", ".venv", "__pycache__", "node_modules"})

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class PathRefused(Exception):
    """Says why a path is not read or written; it is told to the model and goes no further."""


class ConfinedFolder:
    """A folder and what is below it, but not git's own files.

    Every method raises `PathRefused`, or `MachineFailed` when no other path would do better: a full disk.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()

    def holds(self, path: str) -> bool:
        """Whether there is anything at `path`, be it a link that leads nowhere."""
        with _refusals(path):
            parts = self._parts(path, follow_last=False)
            try:
                with self._parent(parts) as parent:
                    os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

    def name_of(self, path: str) -> str:
        """The one name of what `path` names, links followed."""
        with _refusals(path):
            return "/".join(self._parts(path))

    def read(self, path: str) -> bytes:
        with _refusals(path):
            parts = self._parts(path)
            with self._parent(parts) as parent, _regular(parts[-1], os.O_RDONLY, parent) as file:
                size = os.fstat(file).st_size
                if size > LARGEST_FILE_BYTES:
                    raise PathRefused(f"{path} is too large to read ({size} bytes)")
                with open(file, "rb", closefd=False) as stream:
                    return stream.read(LARGEST_FILE_BYTES)

    def write(self, path: str, content: bytes) -> None:
        """Make `path` hold `content`; folders on the way are made, the mode of an existing file stays."""
        with _refusals(path):
            parts = self._parts(path)
            with (
                self._parent(parts, make=True) as parent,
                _regular(parts[-1], os.O_WRONLY | os.O_CREAT, parent) as file,
            ):
                if os.fstat(file).st_nlink > 1:
                    raise PathRefused(f"{path} has a second name (a hard link) that may be outside the workspace")
                os.ftruncate(file, 0)
                with open(file, "wb", closefd=False) as stream:
                    stream.write(content)

    def delete(self, path: str) -> None:
        """Remove a file, or a link but not what it leads to."""
        with _refusals(path):
            parts = self._parts(path, follow_last=False)
            with self._parent(parts) as parent:
                os.unlink(parts[-1], dir_fd=parent)

    def listing(self, path: str, *, at_most: int) -> tuple[str, ...]:
        """Files below `path`, folder by folder; folders that tools fill are named but not entered."""
        found: list[str] = []
        with _refusals(path):
            parts = self._parts(path) if PurePosixPath(path).parts else ()
            with self._parent((*parts, ".")) as top:
                for folder, folders, files, _ in os.fwalk(".", dir_fd=top):
                    at = PurePosixPath(*parts, folder)
                    unlisted = UNLISTED_FOLDERS.intersection(folders)
                    folders[:] = sorted(set(folders) - unlisted)
                    found += sorted(str(at / name) for name in files if name != ".git")
                    found += sorted(f"{at / name}/" for name in unlisted if name != ".git")
                    if len(found) >= at_most:
                        break
        return tuple(found[:at_most])

    def _parts(self, path: str, *, follow_last: bool = True) -> tuple[str, ...]:
        """The components of what `path` names, links followed, below the root."""
        asked = PurePosixPath(path)
        if asked.is_absolute() or ".." in asked.parts:
            raise PathRefused(
                f"{path!r} is refused: give a path below the workspace, without a leading / and without .."
            )
        if not asked.parts:
            raise PathRefused(f"{path!r} is not the path of a file")
        named = self._root / asked
        real = named.resolve() if follow_last else named.parent.resolve() / named.name
        if not real.is_relative_to(self._root):
            raise PathRefused(f"{path!r} is refused: a link leads it out of the workspace")
        parts = real.relative_to(self._root).parts
        if any(part.lower() == ".git" for part in (*asked.parts, *parts)):
            raise PathRefused(f"{path!r} is refused: git's own files are not edited")
        return parts or (".",)

    @contextmanager
    def _parent(self, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """The folder that holds the last of `parts`, as an open descriptor."""
        folder = os.open(self._root, _FOLDER)
        try:
            for part in parts[:-1]:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            yield folder
        finally:
            os.close(folder)


@contextmanager
def _regular(name: str, flags: int, parent: int) -> Iterator[int]:
    file = os.open(name, flags | _FILE, 0o666, dir_fd=parent)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise PathRefused(f"{name} is not a regular file")
        yield file
    finally:
        os.close(file)


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if failure := machine_failure(error, path):
            raise failure from error
        raise PathRefused(f"{path}: {error.strerror}") from error
    except (ValueError, RuntimeError) as error:  # a NUL or a lone surrogate in the path; a loop of links
        raise PathRefused(f"{path!r}: {error}") from error
