"""Names that were read from a row, a file or a request and become part of a path: checked where they enter."""

from __future__ import annotations

import re

from milepost.core.errors import RowRefused

ADVICE = "milepost gave no such name: find out who wrote it, and remove the row or the file"

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z")


def plain_name(text: str, what: str) -> str:
    """The name itself, which is one part of a path and nothing else; raises where it could lead elsewhere."""
    if not _PLAIN.match(text):
        raise RowRefused(f"{text[:80]!r} is no name of {what}", ADVICE)
    return text


def path_inside(text: str, what: str) -> str:
    """The path itself, with `/` between its parts; raises where it could lead out of its folder or into git's."""
    parts = text.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" or "\0" in part for part in parts):
        raise RowRefused(f"{text[:80]!r} is no path of {what} in a repository", ADVICE)
    return text
