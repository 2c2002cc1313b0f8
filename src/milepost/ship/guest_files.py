"""Files that a guest built, taken over to where no guest can reach: never through a link that it left."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from milepost.core.errors import PackageFailed

_LARGEST = 4_000_000_000
_MOST_FILES = 200_000


def take_file(file: Path, folder: Path, target: Path) -> Path:
    """Copy a file of a guest's folder; a link, a pipe or something too large is refused."""
    _require_plain(file, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target, follow_symlinks=False)
    mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
    target.chmod(mode)
    return target


def take_folder(folder: Path, below: Path, target: Path) -> Path:
    """Copy the plain files of a guest's folder."""
    for file in plain_files(folder, below):
        take_file(file, below, target / file.relative_to(folder))
    return target


def plain_files(folder: Path, below: Path) -> Iterator[Path]:
    """The files of a guest's folder in order, without links and what git keeps."""
    if Path(os.path.realpath(folder)) != Path(os.path.realpath(below), folder.relative_to(below)):
        raise PackageFailed(f"{folder.name!r} leads out of the folder that is built in", "build a folder, not a link")
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            file = Path(place, name)
            if stat.S_ISREG(file.lstat().st_mode):
                count += 1
                if count > _MOST_FILES:
                    raise PackageFailed(f"more than {_MOST_FILES:,} files were built", "build less")
                yield file


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha1_of(file: Path) -> str:
    """The digest by which some vendors ask for files; nothing is trusted for it."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


def _require_plain(file: Path, below: Path) -> None:
    facts = file.lstat()
    real = Path(os.path.realpath(below), file.relative_to(below))
    if not stat.S_ISREG(facts.st_mode) or Path(os.path.realpath(file)) != real:
        raise PackageFailed(f"what was built as {file.name!r} is not a plain file", "build a file, not a link")
    if facts.st_size > _LARGEST:
        raise PackageFailed(f"{file.name!r} is larger than {_LARGEST // 1_000_000_000} GB", "build less")
