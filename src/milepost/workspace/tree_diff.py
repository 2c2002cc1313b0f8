"""What differs between two trees, file by file: paths, renames, sizes of the change, blobs. Pure git plumbing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from milepost.workspace.git import Git

Kind = Literal["added", "changed", "removed", "renamed"]

LARGEST_COUNTED = "1m"  # git calls a larger file binary, and counts none of its lines
_KINDS: Mapping[str, Kind] = {"A": "added", "D": "removed", "R": "renamed"}
_WORDS = ("diff-tree", "-r", "-z", "--no-ext-diff", "--no-textconv", "--full-index")
_SUBMODULE, _LINK = "160000", "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """A path that differs: `was` is what it was called before, `old` and `new` its blobs, empty where it is not there.

    `added` and `removed` count lines; both are None where git has none to count.
    """

    path: str
    kind: Kind
    was: str = ""
    old: str = ""
    new: str = ""
    added: int | None = None
    removed: int | None = None
    is_link: bool = False


def differing(git: Git, old: str, new: str) -> tuple[Differing, ...]:
    """The files that differ between two commits or trees, in the order of git; submodules are not among them."""
    counts = dict(_counts(git, old, new))
    return tuple(
        replace(one, added=added, removed=removed)
        for one in _differing(git, "--find-renames", old, new)
        for added, removed in [counts.get(one.path, (None, None))]
    )


def kinds(git: Git, old: str, new: str) -> dict[str, Kind]:
    """What happened to each file that differs: none is called renamed, and no line is counted, which takes long."""
    return {one.path: one.kind for one in _differing(git, "--no-renames", old, new)}


def _differing(git: Git, follow: str, old: str, new: str) -> Iterator[Differing]:
    raw = git.plumb_bytes(*_WORDS, "--raw", follow, old, new).split(b"\0")
    at = 0
    while at + 1 < len(raw):
        old_mode, new_mode, before, after, status = raw[at].decode("ascii").lstrip(":").split()
        paths = [_path(name) for name in raw[at + 1 : at + (3 if status[0] in "RC" else 2)]]
        at += 1 + len(paths)
        if _SUBMODULE in (old_mode, new_mode):
            continue
        yield Differing(
            path=paths[-1],
            was=paths[0] if len(paths) > 1 else "",
            kind=_KINDS.get(status[0], "changed"),
            old=before if before.strip("0") else "",
            new=after if after.strip("0") else "",
            is_link=_LINK in (old_mode, new_mode),
        )


def _counts(git: Git, old: str, new: str) -> Iterator[tuple[str, tuple[int | None, int | None]]]:
    switches = ("-c", f"core.bigFileThreshold={LARGEST_COUNTED}")
    fields = iter(git.plumb_bytes(*switches, *_WORDS, "--numstat", "--find-renames", old, new).split(b"\0"))
    for row in fields:
        if not row:
            continue
        added, removed, name = row.split(b"\t", 2)
        if not name:  # of a rename both names follow
            next(fields, b"")
            name = next(fields, b"")
        yield _path(name), (_number(added), _number(removed))


def _number(written: bytes) -> int | None:
    return int(written) if written.isdigit() else None


def _path(name: bytes) -> str:
    """A path as text that can be kept and shown: names of files may be any bytes."""
    return name.decode("utf-8", "backslashreplace")
