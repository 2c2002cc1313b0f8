"""Paths of a repository as text, with `/` between their parts."""

from __future__ import annotations


def folders_above(path: str) -> tuple[str, ...]:
    """The folders that hold a path, the nearest first, the checkout itself ("") last."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:count]) for count in range(len(parts), -1, -1))


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
