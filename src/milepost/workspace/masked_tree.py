"""A tree without the credentials that its change brought: what is kept of work that must not be kept as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.change import LARGEST_READ, ChangedFile, MaskedFile
from milepost.workspace.git import Git
from milepost.workspace.objects import blobs_of

LARGEST_SEARCHED = 128_000_000
_SHORT = 16_000
_FOLDER, _SUBMODULE = "040000", "160000"

# The file without its credentials; None where it has none. Without what was before it finds no less in a file than
# with it.
Mask = Callable[[ChangedFile], MaskedFile | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One path that a tree has otherwise than its base, a file or a folder: as it is there, and what it was."""

    mode: str
    was: str
    old: str
    new: str
    name: bytes

    @property
    def path(self) -> str:
        return self.name.decode("utf-8", "backslashreplace")

    @property
    def is_file(self) -> bool:
        return self.mode.startswith(("100", "120"))

    @property
    def is_folder(self) -> bool:
        return _FOLDER in (self.mode, self.was)

    @property
    def is_submodule(self) -> bool:
        return self.mode == _SUBMODULE


def changes_between(git: Git, base: str, tree: str) -> tuple[Changed, ...]:
    """All paths that a tree has otherwise than its base, folders among them."""
    words = ("diff-tree", "-r", "-t", "-z", "--no-renames", "--full-index", base, tree)
    raw = git.plumb_bytes(*words).split(b"\0")
    facts = (each.decode("ascii").lstrip(":").split() for each in raw[0::2] if each)
    return tuple(
        Changed(mode=mode, was=was, old=old, new=new, name=name)
        for (was, mode, old, new, _), name in zip(facts, raw[1::2], strict=False)
    )


def mask_tree(git: Git, tree: str, changes: Sequence[Changed], mask: Mask) -> tuple[str, tuple[str, ...]]:
    """The tree with all credentials masked that its base has not, and the places where they were; itself without any.

    What a short file was before is only read where there is something to mask in what it is now: to search it whole
    takes less than to ask git.
    """
    files = _files(git, [row for row in changes if row.is_file], before=False)
    suspects = [row for row, file in files if len(file.after or b"") > _SHORT or mask(file) is not None]
    found = [(row, masked) for row, file in _files(git, suspects, before=True) if (masked := mask(file)) is not None]
    if not found:
        return tree, ()
    return _with(git, tree, found), tuple(place for _, masked in found for place in masked.places)


def new_objects(changes: Sequence[Changed], tree: str) -> tuple[str, ...]:
    """The objects that a tree has and its base has not, each behind those that it names."""
    there = [row for row in changes if row.new.strip("0")]
    files = (row.new for row in there if not row.is_folder)
    folders = sorted((row for row in there if row.is_folder), key=lambda row: -row.name.count(b"/"))
    return (*dict.fromkeys((*files, *(row.new for row in folders))), tree)


def _files(git: Git, rows: Sequence[Changed], *, before: bool) -> Iterator[tuple[Changed, ChangedFile]]:
    """The files of some rows with their bytes; large ones are read one by one."""

    def names(row: Changed) -> tuple[str, ...]:
        return (row.old, row.new) if before else (row.new,)

    blobs, large = blobs_of(git, [name for row in rows for name in names(row)], LARGEST_READ)
    for row in rows:
        contents = blobs
        if large & {*names(row)}:
            contents = blobs_of(git, names(row), LARGEST_SEARCHED)[0]
        path = row.name.decode("utf-8", "surrogateescape")
        was = contents.get(row.old) if before else None
        yield row, ChangedFile(path=path, before=was, after=contents.get(row.new), mode=row.mode)


def _with(git: Git, tree: str, found: Sequence[tuple[Changed, MaskedFile]]) -> str:
    """The tree with some files as they are masked."""
    with TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.plumb("read-tree", tree, env=index)
        entries = [b"0 " + row.new.encode() + b"\t" + row.name + b"\0" for row, _ in found]
        for row, masked in found:
            blob = git.plumb("hash-object", "-w", "--stdin", stdin=masked.content)
            entries.append(f"{row.mode} {blob}\t".encode() + os.fsencode(masked.path) + b"\0")
        git.plumb("update-index", "-z", "--index-info", stdin=b"".join(entries), env=index)
        return git.plumb("write-tree", env=index)
