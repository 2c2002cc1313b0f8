"""The private home of a program: files that are put there for it, whatever it left there before.

While nothing of the program runs, nobody changes the home: what is looked at here stays as it is.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

OWNER_ONLY = 0o700


def made(folder: Path) -> Path:
    """The home below a folder, both for their owner only; a link in their place is not followed but removed."""
    home = folder / "home"
    for each in (folder, home):
        _make_folder(each)
        each.chmod(OWNER_ONLY)
    return home


def emptied(folder: Path) -> Path:
    """The home below a folder, with nothing in it; what cannot be removed is put aside."""
    home = made(folder)
    aside = Path(tempfile.mkdtemp(prefix=".old-", dir=folder))
    home.replace(aside)
    shutil.rmtree(aside, ignore_errors=True)
    return made(folder)


def put(home: Path, files: Mapping[str, str]) -> None:
    """Write files below the home, readable by their owner only, and never through a link."""
    for name, text in files.items():
        write(home, name, text.encode())


def write(home: Path, name: str, content: bytes) -> Path:
    """Write one file below the home."""
    *folders, last = _parts(name)
    place = home
    for part in folders:
        place /= part
        _make_folder(place)
    replace_file(place / last, content)
    return place / last


def remove(home: Path, name: str) -> None:
    """Remove one file below the home; what a link on the way leads to is not touched."""
    place = home
    for part in _parts(name):
        place /= part
        if place.is_symlink() or not place.is_dir():
            place.unlink(missing_ok=True)
            return


def read(home: Path, name: str, *, longest: int) -> tuple[bytes, int] | None:
    """A plain file below the home, and when it was written, in ns; None if there is none, or links lead to it."""
    if os.path.realpath(home / name) != str(Path(os.path.realpath(home), *_parts(name))):
        return None
    try:
        handle = os.open(home / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_size > longest:
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as stream:
        return stream.read(longest), status.st_mtime_ns


def replace_file(path: Path, content: bytes) -> None:
    """Put a whole file in the place of whatever has its name, at once."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _make_folder(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)


def _parts(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"{name!r} is not a path below a home folder")
    return path.parts
