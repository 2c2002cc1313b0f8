"""Reading git's objects in bulk: the files of a tree, the contents of blobs, what commits changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.workspace.git import Git

What = Literal["created", "changed", "deleted"]

_WHAT: Mapping[bytes, What] = {b"A": "created", b"D": "deleted"}
_LINK = b"120000"


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
    wanted = "\n".join(dict.fromkeys(name for name in names if name.strip("0")))
    if not wanted:
        return {}, set()
    sized = git.plumb("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=wanted.encode())
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
