"""Files of a checkout replaced for the time of a run, and put back as they were."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A path as it was: its bytes and mode, the target of a link, or nothing at all."""

    content: bytes | None
    mode: int = 0o644
    link: str | None = None


@contextmanager
def swapped(checkout: Path, files: Mapping[str, bytes | None]) -> Iterator[None]:
    """Have `files` in the checkout, None for those that are not to be there; their own content comes back afterwards.

    What runs meanwhile may put a link wherever it likes: no link is followed, neither on the way in nor on the way out.
    """
    kept = {path: _keep(checkout, path) for path in files}
    try:
        for path, content in files.items():
            _put(checkout, path, _Kept(content=content, mode=kept[path].mode))
        yield
    finally:
        for path, state in kept.items():
            _put(checkout, path, state)


def read_plainly(checkout: Path, path: str) -> bytes | None:
    """The content of a file of the checkout, None where there is none or a link is on the way."""
    return _keep(checkout, path).content


def _keep(checkout: Path, path: str) -> _Kept:
    *folders, name = path.split("/")
    try:
        with folder_at(checkout, folders, make=False) as folder:
            facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(facts.st_mode):
                return _Kept(content=None, link=os.readlink(name, dir_fd=folder))
            if not stat.S_ISREG(facts.st_mode):
                return _Kept(content=None)
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            with os.fdopen(descriptor, "rb") as file:
                return _Kept(content=file.read(), mode=stat.S_IMODE(facts.st_mode))
    except OSError:
        return _Kept(content=None)


def _put(checkout: Path, path: str, state: _Kept) -> None:
    *folders, name = path.split("/")
    if state.content is None and state.link is None and not (checkout / path).parent.is_dir():
        return
    with folder_at(checkout, folders, make=True) as folder:
        clear(name, folder)
        if state.link is not None:
            os.symlink(state.link, name, dir_fd=folder)
        elif state.content is not None:
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, state.mode, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as file:
                file.write(state.content)
                os.fchmod(descriptor, state.mode)


@contextmanager
def folder_at(checkout: Path, names: list[str], *, make: bool) -> Iterator[int]:
    """The descriptor of a folder of the checkout, reached without following a link; with `make`, what is in the way
    makes room for it."""
    descriptor = os.open(checkout, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            if name in ("", ".", ".."):
                raise OSError(f"{name!r} is no folder's name")
            try:
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            except OSError:
                if not make:
                    raise
                clear(name, descriptor)
                os.mkdir(name, dir_fd=descriptor)
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def clear(name: str, folder: int) -> None:
    """Remove what has this name in a folder that is open, whatever it is; a link, but not what it leads to."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        try:
            shutil.rmtree(name, dir_fd=folder)
        except (OSError, RecursionError):  # nobody may open it, or it is too deep for Python
            for words in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
                argv = [*words, "--", f"./{name}"]
                subprocess.run(argv, cwd=f"/proc/self/fd/{folder}", capture_output=True, check=False)
    else:
        os.unlink(name, dir_fd=folder)
