"""A builder that packs a project folder into one archive, the same bytes for the same content."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from milepost.core.errors import Misuse
from milepost.core.folders import TOOLS
from milepost.core.shipping import Artifact

STATE_FOLDER = ".milepost"
SKIPPED = TOOLS | {STATE_FOLDER}


@dataclass(frozen=True, slots=True)
class TreeArchive:
    """Packs into the folder `out`, which lies outside the project or in its state folder."""

    out: Path

    def build(self, project: Path) -> Artifact:
        project, out = project.resolve(), self.out.resolve()
        if not project.is_dir():
            raise Misuse(f"there is no project folder {str(project)!r}", "name the folder that is to be packed")
        if out.is_relative_to(project) and not out.is_relative_to(project / STATE_FOLDER):
            raise Misuse(
                f"{str(out)!r} lies in the project", "choose a folder outside: a build leaves its project alone"
            )
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=out, prefix=".building-", delete=False) as file:
            unfinished = Path(file.name)
            try:
                _pack(project, file)
                file.flush()
                os.fsync(file.fileno())
                sha256 = _digest(unfinished)
                path = out / f"{project.name}-{sha256[:12]}.tar.gz"
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
        return Artifact(name=path.name, path=path, sha256=sha256)


def _pack(project: Path, file: IO[bytes]) -> None:
    """Neither gzip's header nor tar's may say when or by whom."""
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, path in _entries(project, ""):
            _add(archive, name, path)


def _entries(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED:
            continue
        yield f"{prefix}{path.name}", path
        if path.is_dir() and not path.is_symlink():
            yield from _entries(path, f"{prefix}{path.name}/")


def _add(archive: tarfile.TarFile, name: str, path: Path) -> None:
    entry = tarfile.TarInfo(name)
    if path.is_symlink():
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
        archive.addfile(entry)
    elif path.is_dir():
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(entry)
    elif path.is_file():
        facts = path.stat()
        entry.size, entry.mode = facts.st_size, 0o755 if facts.st_mode & 0o100 else 0o644
        with path.open("rb") as content:
            archive.addfile(entry, content)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
