"""Tests that come from outside of the change: laid into a checkout for one run, and gone from it afterwards."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.secrets.decoded_views import decoded_views
from milepost.core.verdict import TestCase
from milepost.sandbox.remove_folder import remove
from milepost.verify.witness.swap import clear, folder_at

SHORTEST_QUOTE = 10  # letters and digits
SHORTEST_CODED = 16
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
    """The checkout with these files in it. What stood in their place is back afterwards.

    What runs meanwhile may put a link wherever it likes: no link is followed, neither on the way in nor on the way out.
    What is kept for later is beside the checkout, where nothing that runs in it can write.
    """
    checkout = workspace.folder
    aside = checkout.with_name(f"{checkout.name}-{secrets.token_hex(4)}")
    aside.mkdir(mode=0o700)
    places = _places(material, checkout)
    kept: list[tuple[str, ...]] = []
    try:
        for number, place in enumerate(places):
            if _move(place, checkout, (str(number),), aside):
                kept.append(place)
        for path, content in material.files.items():
            _write(checkout, path, content, program=path in material.programs)
        yield
    finally:
        for number, place in enumerate(places):
            _clear(place, checkout)
            if place in kept:
                _move((str(number),), aside, place, checkout)
        remove(aside)


def told(case: TestCase, material: Material) -> TestCase:
    """What may be told of a test whose source is not: its name, its outcome, and one line that quotes nothing of it."""
    lines = [line.strip() for line in case.message.splitlines() if line.strip()]
    message = lines[0][:LONGEST_MESSAGE] if lines else ""
    return replace(case, message=QUOTES if _quotes(message, material) else message, traceback="")


def _quotes(message: str, material: Material) -> bool:
    """Whether a message repeats a line of the tests, or part of them in a code, as one made of the file does."""
    sources = [content.decode("utf-8", "replace") for content in material.files.values()]
    lines = {bare for source in sources for line in source.split("\n") if len(bare := _bare(line)) >= SHORTEST_QUOTE}
    if any(line in _bare(message) for line in lines):
        return True
    joined = "".join(message.split())
    coded = (message, message[::-1], joined, joined[::-1])
    decoded = (view.decode("utf-8", "replace") for text in coded for view in decoded_views(text.encode()))
    wholes = [_bare(source) for source in sources]
    parts = (
        part[at : at + SHORTEST_CODED]
        for part in map(_bare, (message[::-1], *decoded))
        for at in range(len(part) - SHORTEST_CODED + 1)
    )
    return any(part in whole for part in parts for whole in wholes)


def _bare(text: str) -> str:
    """A text without what is easily put between its signs, or changed in them."""
    return "".join(filter(str.isalnum, text)).casefold()


def _places(material: Material, checkout: Path) -> list[tuple[str, ...]]:
    """The topmost names that the files need for themselves: those that are new, and those that are no folder's."""
    found: dict[tuple[str, ...], None] = {}
    for path in material.files:
        parts = PurePosixPath(path).parts
        ends = range(1, len(parts))
        found[next((parts[:end] for end in ends if not _is_folder(parts[:end], checkout)), parts)] = None
    return list(found)


def _is_folder(place: tuple[str, ...], checkout: Path) -> bool:
    try:
        with folder_at(checkout, list(place), make=False):
            return True
    except OSError:
        return False


def _move(place: tuple[str, ...], top: Path, to: tuple[str, ...], other: Path) -> bool:
    """Give what is at a place another one, below another folder; says whether there is anything."""
    try:
        with (
            folder_at(top, list(place[:-1]), make=False) as source,
            folder_at(other, list(to[:-1]), make=True) as target,
        ):
            os.rename(place[-1], to[-1], src_dir_fd=source, dst_dir_fd=target)
    except FileNotFoundError:
        return False
    return True


def _write(checkout: Path, path: str, content: bytes, *, program: bool) -> None:
    *folders, name = PurePosixPath(path).parts
    with folder_at(checkout, folders, make=True) as folder:
        clear(name, folder)
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(descriptor, 0o755 if program else 0o644)


def _clear(place: tuple[str, ...], checkout: Path) -> None:
    """Remove what is at a place, where there is a way to it that leads through folders alone."""
    with suppress(FileNotFoundError, NotADirectoryError), folder_at(checkout, list(place[:-1]), make=False) as folder:
        clear(place[-1], folder)
