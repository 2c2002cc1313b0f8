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

# The file without its credentials; None where it has none.
Mask = Callable[[ChangedFile], MaskedFile | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One path that a tree has otherwise than its base."""

    mode: str
    old: str
    new: str
    name: bytes

    @property
    def is_file(self) -> bool:
        return self.mode.startswith(("100", "120"))


def mask_tree(git: Git, base: str, tree: str, mask: Mask) -> tuple[str, tuple[str, ...]]:
    """The tree with all credentials masked that `base` has not, and the places where they were; itself without any."""
    rows = [row for row in _rows(git, base, tree) if row.is_file]
    found = [(row, masked) for row, file in _files(git, rows) if (masked := mask(file)) is not None]
    if not found:
        return tree, ()
    return _with(git, tree, found), tuple(place for _, masked in found for place in masked.places)


def new_objects(git: Git, base: str, tree: str) -> tuple[str, ...]:
    """The objects that a tree has and its base has not, each behind those that it names."""
    rows = [row for row in _rows(git, base, tree, "-t") if row.new.strip("0")]
    files = (row.new for row in rows if row.mode != "040000")
    folders = (row.new for row in sorted(rows, key=lambda row: -row.name.count(b"/")) if row.mode == "040000")
    return (*dict.fromkeys((*files, *folders)), tree)


def _rows(git: Git, base: str, tree: str, *options: str) -> Iterator[_Row]:
    words = ("diff-tree", "-r", "-z", "--no-renames", "--full-index", *options, base, tree)
    raw = git.plumb_bytes(*words).split(b"\0")
    for facts, name in zip(raw[0::2], raw[1::2], strict=False):
        _, mode, old, new, _ = facts.decode("ascii").lstrip(":").split()
        yield _Row(mode=mode, old=old, new=new, name=name)


def _files(git: Git, rows: Sequence[_Row]) -> Iterator[tuple[_Row, ChangedFile]]:
    """The files of some rows with their bytes; large ones are read one by one."""
    blobs, large = blobs_of(git, [name for row in rows for name in (row.old, row.new)], LARGEST_READ)
    for row in rows:
        contents = blobs
        if large & {row.old, row.new}:
            contents = blobs_of(git, (row.old, row.new), LARGEST_SEARCHED)[0]
        path = row.name.decode("utf-8", "surrogateescape")
        yield (
            row,
            ChangedFile(path=path, before=contents.get(row.old), after=contents.get(row.new), mode=row.mode),
        )


def _with(git: Git, tree: str, found: Sequence[tuple[_Row, MaskedFile]]) -> str:
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
