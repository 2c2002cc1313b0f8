"""Tests that come from outside of the change: laid into a checkout for one run, and gone from it afterwards."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase

SHORTEST_QUOTE = 12
LONGEST_MESSAGE = 200
QUOTES = "[the message quotes the test and is left out]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Files by their path in the checkout; those that are `programs` may be run."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    programs: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """A name for exactly these files."""
        found = hashlib.sha256()
        for path, content in sorted(self.files.items()):
            mark = "x" if path in self.programs else "-"
            found.update(f"{mark} {path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
        return found.hexdigest()[:16]


def material_in(folder: Path) -> Material:
    """All plain files of a folder, below its own name; links and what tools leave are left out."""
    files: dict[str, bytes] = {}
    programs: set[str] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", ".git", ".pytest_cache"))
        for name in sorted(names):
            path = Path(place, name)
            if path.is_symlink() or not path.is_file() or name.endswith((".pyc", ".pyo")):
                continue
            within = str(PurePosixPath(folder.name, path.relative_to(folder).as_posix()))
            files[within] = path.read_bytes()
            if os.access(path, os.X_OK):
                programs.add(within)
    return Material(files=files, programs=frozenset(programs))


@contextmanager
def laid(material: Material, workspace: Workspace) -> Iterator[None]:
    """The checkout with these files in it. What stood in their place is back afterwards."""
    aside = workspace.scratch / f"aside-{material.digest}"
    moved: list[tuple[Path, Path]] = []
    made: list[Path] = []
    try:
        for number, place in enumerate(_places(material, workspace.folder)):
            if place.is_symlink() or place.exists():
                aside.mkdir(parents=True, exist_ok=True)
                shutil.move(place, aside / str(number))
                moved.append((aside / str(number), place))
        for path, content in material.files.items():
            made += _write(workspace.folder, path, content, program=path in material.programs)
        yield
    finally:
        for place in reversed(made):
            _remove(place)
        for kept, place in moved:
            _remove(place)
            shutil.move(kept, place)


def told(case: TestCase, material: Material) -> TestCase:
    """What may be told of a test whose source is not: its name, its outcome, and one line that quotes nothing of it."""
    lines = [line.strip() for line in case.message.splitlines() if line.strip()]
    message = lines[0][:LONGEST_MESSAGE] if lines else ""
    return replace(case, message=QUOTES if _quotes(message, material) else message, traceback="")


def _quotes(message: str, material: Material) -> bool:
    """Whether a message repeats a line of the tests, as one does that the tested code made of the file itself."""
    lines = (
        line.strip() for content in material.files.values() for line in content.decode("utf-8", "replace").split("\n")
    )
    return any(len(line) >= SHORTEST_QUOTE and line in message for line in lines)


def _places(material: Material, folder: Path) -> list[Path]:
    """What stands where the files go: a file in the place of a folder, a link, or a file of the same name."""
    found: dict[Path, None] = {}
    for path in material.files:
        place = folder
        for part in PurePosixPath(path).parts:
            place = place / part
            if place.is_symlink() or place.is_file() or (place.exists() and place == folder / path):
                found[place] = None
                break
    return list(found)


def _write(folder: Path, path: str, content: bytes, *, program: bool) -> list[Path]:
    """Write one file; gives what was not there before, folders first."""
    target = folder / path
    new = [parent for parent in reversed(target.parents) if parent.is_relative_to(folder) and not parent.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(0o755 if program else 0o644)
    return [*new, target]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
