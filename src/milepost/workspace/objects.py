"""Reading git's objects in bulk: the files of a tree, the contents of blobs, what commits changed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Literal

from milepost.workspace.git import Git

What = Literal["created", "changed", "deleted"]

_WHAT: Mapping[bytes, What] = {b"A": "created", b"D": "deleted"}
_LINK = b"120000"
_PIECE, _LONGEST_HEAD = 1 << 16, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """A file of a tree: the blob that is its content, and how large that is."""

    path: str
    blob: str
    size: int
    is_link: bool = False


def entries_of(git: Git, tree: str) -> tuple[TreeEntry, ...]:
    """The files of a tree, or of the tree of a commit; submodules are not among them."""
    listing = git.plumb_bytes("ls-tree", "-r", "-l", "-z", "--full-tree", tree)
    rows = (row.partition(b"\t") for row in listing.split(b"\0") if row)
    return tuple(
        TreeEntry(path=os.fsdecode(name), blob=blob.decode(), size=int(size), is_link=mode == _LINK)
        for (mode, kind, blob, size), name in ((facts.split(), name) for facts, _, name in rows)
        if kind == b"blob"
    )


def blobs_of(git: Git, names: Iterable[str], largest: int) -> tuple[dict[str, bytes], set[str]]:
    """The contents of blobs by their names, and those too large to be read; a submodule's name is no blob."""
    wanted = [name for name in dict.fromkeys(names) if name.strip("0")]
    loose = {name: blob for name in wanted if (blob := _loose_blob(git, name, largest)) is not None}
    packed, large = _blobs_asked_for(git, [name for name in wanted if name not in loose], largest)
    return {name: blob for name in wanted if (blob := (loose | packed).get(name)) is not None}, large


def _loose_blob(git: Git, name: str, largest: int) -> bytes | None:
    """The content of a blob that has a file of its own in git's stores and is no larger: git need not be started."""
    for store in git.stores:
        with suppress(OSError, ValueError, zlib.error), (store / name[:2] / name[2:]).open("rb") as file:
            return _inflated(file, largest)
    return None


def _inflated(file: BinaryIO, largest: int) -> bytes | None:
    reader = zlib.decompressobj()
    head, _, content = reader.decompress(file.read(_PIECE), _LONGEST_HEAD).partition(b"\0")
    kind, _, size = head.partition(b" ")
    if kind != b"blob" or int(size) > largest:
        return None
    packed = reader.unconsumed_tail + file.read(largest + _PIECE)
    content += reader.decompress(packed, int(size) + 1)
    return content if len(content) == int(size) else None


def _blobs_asked_for(git: Git, names: Sequence[str], largest: int) -> tuple[dict[str, bytes], set[str]]:
    """The same as git tells it, which says what is wrong with an object that cannot be read."""
    if not names:
        return {}, set()
    wanted = "\n".join(names).encode()
    sized = git.plumb("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=wanted)
    rows = (line.split() for line in sized.splitlines())
    sizes = {name: int(size) for name, size in rows if size.isdigit()}
    small = [name for name, size in sizes.items() if size <= largest]
    stream = git.plumb_bytes("cat-file", "--batch", stdin="\n".join(small).encode()) if small else b""
    found = dict.fromkeys(sizes, b"")
    at = 0
    for name in small:
        begin = stream.index(b"\n", at) + 1
        at = begin + sizes[name] + 1
        found[name] = stream[begin : at - 1]
    return found, sizes.keys() - set(small)


def changes_of(git: Git, commits: Sequence[str]) -> dict[str, tuple[tuple[str, What], ...]]:
    """What became of which files in each of some commits, compared with the one before it."""
    if not commits:
        return {}
    words = ("diff-tree", "--stdin", "--root", "-r", "-z", "--name-status", "--no-renames")
    fields = git.plumb_bytes(*words, stdin="".join(f"{commit}\n" for commit in commits).encode()).split(b"\0")
    found: dict[str, list[tuple[str, What]]] = {commit: [] for commit in commits}
    commit, at = "", 0
    while at < len(fields):
        if fields[at].decode("ascii", "replace").strip() in found:
            commit, at = fields[at].decode().strip(), at + 1
        elif at + 1 < len(fields) and commit:
            found[commit].append((os.fsdecode(fields[at + 1]), _WHAT.get(fields[at], "changed")))
            at += 2
        else:
            break
    return {commit: tuple(files) for commit, files in found.items()}
