"""The tree that a verdict is taken on: a candidate's, with some paths as they were at the base. No checkout is made."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.workspace.git import Git

_PLAIN = (b"100644", b"100755")
# Names that mean something on other systems only are names here: a tree that git has is a tree that can be changed.
_ANY_NAME = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")


def make_bench_tree(
    git: Git, base: str, tree: str, restored: Collection[str], left_out: Collection[str], merged: Mapping[str, bytes]
) -> str:
    """The name of the tree: `restored` and `left_out` are as the base has them, which may be not at all.

    `merged` are files with content of their own. Where a path of the base and one of the candidate cannot both be
    there, because one is a folder of the other, the base's is. The same arguments give the same tree.
    """
    as_base = {*restored, *left_out}
    if not as_base and not merged:
        return git.plumb("rev-parse", f"{tree}^{{tree}}")
    before = _entries(git, base)
    after = _entries(git, tree)
    changes = [
        *(_removed(entry) for entry in _called(after, {*as_base, *merged})),
        *(_merged(git, path, content, before, after) for path, content in merged.items()),
        *(_placed(entry) for entry in _called(before, as_base - merged.keys())),
    ]
    with tempfile.TemporaryDirectory(prefix="milepost-tree-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.plumb(*_ANY_NAME, "read-tree", tree, env=index)
        git.plumb(*_ANY_NAME, "update-index", "-z", "--index-info", stdin=b"".join(changes), env=index)
        return git.plumb("write-tree", "--missing-ok", env=index)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A file, a link or a submodule of a tree; its name in bytes, since a name may be any."""

    name: bytes
    mode: bytes
    object: bytes


_Entries = Mapping[str, tuple[_Entry, ...]]


def _entries(git: Git, tree: str) -> _Entries:
    """What is in a tree, by path as text: in both ways in which bytes that are no text are written."""
    listing = git.plumb_bytes("ls-tree", "-r", "-z", "--full-tree", tree)
    found: dict[str, tuple[_Entry, ...]] = {}
    for row in filter(None, listing.split(b"\0")):
        facts, _, name = row.partition(b"\t")
        mode, _, made = facts.split()
        entry = _Entry(name=name, mode=mode, object=made)
        for path in {name.decode("utf-8", "backslashreplace"), os.fsdecode(name)}:
            found[path] = (*found.get(path, ()), entry)
    return found


def _called(entries: _Entries, paths: Iterable[str]) -> Iterable[_Entry]:
    return (entry for path in sorted(paths) for entry in entries.get(path, ()))


def _merged(git: Git, path: str, content: bytes, before: _Entries, after: _Entries) -> bytes:
    """A file with this content, and with the mode that it had; a link of the candidate's is a plain file again."""
    known = (*before.get(path, ()), *after.get(path, ()))
    mode = next((entry.mode for entry in known if entry.mode in _PLAIN), b"100644")
    name = known[0].name if known else os.fsencode(path)
    made = git.plumb("hash-object", "-w", "--stdin", stdin=content).encode()
    return _placed(_Entry(name=name, mode=mode, object=made))


def _placed(entry: _Entry) -> bytes:
    return entry.mode + b" " + entry.object + b"\t" + entry.name + b"\0"


def _removed(entry: _Entry) -> bytes:
    return b"0 " + b"0" * len(entry.object) + b"\t" + entry.name + b"\0"
