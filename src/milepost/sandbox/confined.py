"""Files of one folder that agents wrote, read and written without ever leaving it.

A link, a pipe or a folder swapped for a link at the wrong instant may be a trap. The walk to a file opens one component
after the other and follows no link, so that it ends inside the folder or nowhere. `ConfinedFolder` resolves a path once
before the walk, so links that stay inside lead somewhere; to `PlainFolder` no link is a file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from milepost.core.folders import NOT_SOURCE, TOOLS
from milepost.core.machine_failure import machine_failure
from milepost.sandbox.protected_paths import is_git_name

LARGEST_FILE_BYTES = 10_000_000
LARGEST_PLAIN_FILE_BYTES = 4_000_000
MOST_PLAIN_FILES = 50_000
NOT_PLAIN_FOLDERS = NOT_SOURCE | {".milepost", ".tox"}

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
                with _parent(self._root, parts) as parent:
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
            with _parent(self._root, parts) as parent:
                return _read(path, parts[-1], parent, LARGEST_FILE_BYTES)

    def write(self, path: str, content: bytes) -> None:
        """Make `path` hold `content`; folders on the way are made, the mode of an existing file stays."""
        with _refusals(path):
            parts = self._parts(path)
            with _parent(self._root, parts, make=True) as parent:
                _write(path, parts[-1], parent, content)

    def delete(self, path: str) -> None:
        """Remove a file, or a link but not what it leads to."""
        with _refusals(path):
            parts = self._parts(path, follow_last=False)
            with _parent(self._root, parts) as parent:
                os.unlink(parts[-1], dir_fd=parent)

    def listing(self, path: str, *, at_most: int) -> tuple[str, ...]:
        """Files below `path`, folder by folder; folders that tools fill are named but not entered."""
        found: list[str] = []
        with _refusals(path):
            parts = self._parts(path) if PurePosixPath(path).parts else ()
            with _parent(self._root, (*parts, ".")) as top:
                for folder, folders, files, _ in os.fwalk(".", dir_fd=top):
                    at = PurePosixPath(*parts, folder)
                    own = {name for name in folders if not is_git_name(name)}
                    folders[:] = sorted(own - TOOLS)
                    found += sorted(str(at / name) for name in files if not is_git_name(name))
                    found += sorted(f"{at / name}/" for name in own & TOOLS)
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
        if any(map(is_git_name, (*asked.parts, *parts))):
            raise PathRefused(f"{path!r} is refused: git's own files are not edited")
        return parts or (".",)


class PlainFolder:
    """A checkout by paths relative to it. What is no plain file below it is not there.

    What changes it raises `PathRefused` or `MachineFailed`; what reads raises nothing. The listing is kept until
    something is written here: a program that ran in between may have added files to it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listed: tuple[str, ...] | None = None

    def read(self, path: str) -> bytes | None:
        """The bytes of a plain file of a sane size, else None."""
        with suppress(PathRefused, OSError), self._at(path) as (parent, name):
            return _read(path, name, parent, LARGEST_PLAIN_FILE_BYTES)
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
        with suppress(PathRefused, OSError), self._at(path) as (parent, name):
            return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        return None

    def is_file(self, path: str) -> bool:
        return stat.S_ISREG(self.mode(path) or 0)

    def is_folder(self, path: str) -> bool:
        return path in ("", ".") or stat.S_ISDIR(self.mode(path) or 0)

    def write(self, path: str, content: bytes) -> None:
        """Make a plain file hold `content`, its folders made on the way."""
        with self._changing(path), self._at(path, make=True) as (parent, name):
            _write(path, name, parent, content)

    def set_mode(self, path: str, mode: int) -> None:
        """Give a plain file these rights."""
        with self._changing(path), self._at(path) as (parent, name), _regular(name, os.O_RDONLY, parent) as file:
            os.fchmod(file, stat.S_IMODE(mode))

    def link(self, path: str, target: str) -> None:
        """Make `path` a link, whatever file was there before."""
        self.remove(path)
        with self._changing(path), self._at(path, make=True) as (parent, name):
            os.symlink(target, name, dir_fd=parent)

    def target(self, path: str) -> str | None:
        """Where a link leads, None for what is no link."""
        with suppress(PathRefused, OSError), self._at(path) as (parent, name):
            return os.readlink(name, dir_fd=parent)
        return None

    def remove(self, path: str) -> None:
        """Remove a file or a link, and the folders that it leaves empty."""
        with self._changing(path):
            with suppress(FileNotFoundError, NotADirectoryError), self._at(path) as (parent, name):
                os.unlink(name, dir_fd=parent)
            for above in list(PurePosixPath(path).parents)[:-1]:
                with suppress(PathRefused, OSError), self._at(str(above)) as (parent, name):
                    os.rmdir(name, dir_fd=parent)

    def paths(self) -> tuple[str, ...]:
        """All plain files, sorted, but not those of folders that tools fill."""
        if self._listed is None:
            self._listed = self._walk()
        return self._listed

    def _walk(self) -> tuple[str, ...]:
        found: list[str] = []
        for place, folders, files in os.walk(self._root):
            folders[:] = sorted(set(folders) - NOT_PLAIN_FOLDERS)
            at = Path(place).relative_to(self._root)
            found += [(at / name).as_posix() for name in files if not (Path(place) / name).is_symlink()]
            if len(found) > MOST_PLAIN_FILES:
                break
        return tuple(sorted(filter(is_inside, found[:MOST_PLAIN_FILES])))

    @contextmanager
    def _at(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that holds `path`, open, and the last part of its name."""
        if not is_inside(path):
            raise PathRefused(f"{path!r} is not a path in the checkout")
        parts = PurePosixPath(path).parts
        with _parent(self._root, parts, make=make) as parent:
            yield parent, parts[-1]

    @contextmanager
    def _changing(self, path: str) -> Iterator[None]:
        self._listed = None
        with _refusals(path):
            yield


def is_inside(path: str) -> bool:
    """Whether a relative path stays in its folder and out of git's own files."""
    pure = PurePosixPath(path)
    unfit = pure.is_absolute() or not pure.parts or ".." in pure.parts or "\0" in path or not _is_text(path)
    return not unfit and not any(map(is_git_name, pure.parts))


def _is_text(path: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in path)


@contextmanager
def _parent(root: Path, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
    """The folder that holds the last of `parts`, as an open descriptor."""
    folder = os.open(root, _FOLDER)
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


def _read(path: str, name: str, parent: int, largest: int) -> bytes:
    with _regular(name, os.O_RDONLY, parent) as file:
        size = os.fstat(file).st_size
        if size > largest:
            raise PathRefused(f"{path} is too large to read ({size} bytes)")
        with open(file, "rb", closefd=False) as stream:
            return stream.read(largest)


def _write(path: str, name: str, parent: int, content: bytes) -> None:
    with _regular(name, os.O_WRONLY | os.O_CREAT, parent) as file:
        if os.fstat(file).st_nlink > 1:
            raise PathRefused(f"{path} has a second name (a hard link) that may be outside the workspace")
        os.ftruncate(file, 0)
        with open(file, "wb", closefd=False) as stream:
            stream.write(content)


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
