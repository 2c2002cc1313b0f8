"""Single files of another commit, written into the user's tree: only where nothing is lost by it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from milepost.workspace.repository import Repository


def in_the_way(repository: Repository, paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The files that must not be written now, each with the reason."""
    words = ("status", "--porcelain", "-z", "--no-renames", "--ignored", "--untracked-files=all", "--ignore-submodules")
    rows = os.fsdecode(repository.on_tree(*words)).split("\0")
    uncommitted = {row[3:]: row[:2] for row in rows if row}
    return tuple((path, why) for path in paths if (why := _why_not(repository.top, path, uncommitted)))


def write_files(repository: Repository, commit: str, paths: Sequence[str]) -> None:
    """Write files as a commit has them; the index and all branches stay as they are."""
    words = ("restore", f"--source={commit}", "--worktree", "--overlay", "--quiet")
    listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
    repository.on_tree(*words, *listed, stdin=os.fsencode("\0".join(paths)))


def _why_not(top: Path, path: str, uncommitted: dict[str, str]) -> str:
    if (state := uncommitted.get(path)) is not None:
        new = state in ("??", "!!") or state[0] == "A"
        if new or (top / path).is_symlink() or (top / path).exists():  # one that was removed is not taken from anybody
            return "is not committed yet" if new else "has changes that are not committed"
    if (top / path).is_dir() and not (top / path).is_symlink():
        return "is a folder now"
    for folder in Path(path).parents:
        if (top / folder).is_symlink():
            return f"is behind the link {folder} now"
        if (top / folder).exists() and not (top / folder).is_dir():
            return f"is below {folder}, which is a file now"
    return ""
