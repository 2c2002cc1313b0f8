"""go.sum: a set of lines, in which a module of one version has one hash."""

from __future__ import annotations

import re

_LINE = re.compile(r"\S+ v\S+ h1:[A-Za-z0-9+/=]+")
_NUMBER = re.compile(r"(\d+)")


def union(base: str, ours: str, theirs: str) -> str | None:
    """The lines of both sides; None where they disagree about a hash, or a line is none of go.sum's."""
    mine, others = (text.splitlines() for text in (ours, theirs))
    lines = [*mine, *(line for line in others if line not in set(mine))]
    hashes: dict[str, str] = {}
    for line in lines:
        module, _, digest = line.rpartition(" ")
        if not _LINE.fullmatch(line) or hashes.setdefault(module, digest) != digest:
            return None
    ordered = sorted(mine, key=_place) == mine
    return "\n".join(sorted(lines, key=_place) if ordered else lines) + "\n"


def _place(line: str) -> tuple[object, ...]:
    """Where a line goes: by module, then by version, numbers as numbers."""
    module, _, version = line.partition(" ")
    parts = _NUMBER.split(version)
    return (module, [(int(part), "") if at % 2 else (-1, part) for at, part in enumerate(parts)])
