"""Which paths an entry of a task's `Files:` means."""

from __future__ import annotations

import re

from milepost.core.task import Task


def in_scope(task: Task, path: str) -> bool:
    """Whether the author of the task allows an edit of this file: always, unless `Scope: files` says otherwise."""
    if not task.only_its_files:
        return True
    return any(covers(entry, path) for part in task.walk() for entry in part.files)


def covers(entry: str, path: str) -> bool:
    """Whether an entry means this path: the file itself, a folder above it, or a glob."""
    plain = entry.strip().removeprefix("./").rstrip("/")
    if not plain:
        return False
    return path == plain or path.startswith(f"{plain}/") or _pattern(plain).fullmatch(path) is not None


def _pattern(glob: str) -> re.Pattern[str]:
    """A glob as pathlib reads it: `*` stays in one folder, `**` is any number of them."""
    parts = []
    for part in glob.split("/"):
        if part == "**":
            parts.append("(?:[^/]+/)*")
        else:
            words = re.split(r"(\*+|\?)", part)
            parts.append("".join(_sign(word) for word in words) + "/")
    whole = "".join(parts)
    return re.compile(whole.removesuffix("/") if whole.endswith("/") else f"{whole}[^/]+")


def _sign(word: str) -> str:
    if word == "?":
        return "[^/]"
    return "[^/]*" if word.startswith("*") else re.escape(word)
