"""The file tools of a code agent: plain functions on the folder that its code works in.

This file is sent to the session as text and runs there, with the standard library only. What holds the code is the
sandbox; these functions refuse in words what it would refuse.
"""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path

LONGEST_LINE = 2_000
FOUND_AT_ONCE = 200
LARGEST_FILE_BYTES = 10_000_000
UNLISTED = frozenset({".git", ".venv", "__pycache__", "node_modules"})


def read_file(path: str, offset: int = 1, limit: int | None = None) -> str:
    """The text of a file, all of it or `limit` lines from line `offset` on."""
    lines, start = _text(path).splitlines(keepends=True), max(offset, 1) - 1
    return "".join(lines[start : None if limit is None else start + limit])


def write_file(path: str, content: str) -> None:
    """Make a file hold `content`; folders on the way are made."""
    place = _inside(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode())


def edit_file(path: str, old: str, new: str, replace_all: bool = False) -> None:
    """Replace `old`, which must be in the file exactly once unless replace_all; line ends match either kind."""
    if not old:
        raise ValueError("the old text is empty")
    text = _text(path)
    line_end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    pattern = r"\r?\n".join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n"))
    count = sum(1 for _ in re.finditer(f"(?={pattern})", text))
    if count == 0:
        raise ValueError(f"the old text is not in {path}: read the file and copy it exactly")
    if count > 1 and not replace_all:
        raise ValueError(f"the old text is in {path} {count} times: add lines around it, or set replace_all")
    put = new.replace("\r\n", "\n").replace("\n", line_end)
    _inside(path).write_bytes(re.sub(pattern, lambda _: put, text).encode())


def delete(path: str) -> None:
    """Delete a file, or a link but not what it leads to."""
    place = _inside(str(Path(path).parent)) / Path(path).name
    if place.name == ".git":
        raise PermissionError(f"{path!r} is refused: git's own files are not edited")
    place.unlink()


def ls(path: str = ".") -> list[str]:
    """The names in a folder, those of folders with a / at the end."""
    return sorted(entry.name + ("/" if entry.is_dir() else "") for entry in os.scandir(_inside(path)))


def glob(pattern: str, path: str = ".") -> list[str]:
    """The files below a folder whose path matches, such as `*.py` or `src/**/test_*.py`."""
    return _first([name for name in _walk(path) if _matches(name, pattern)], FOUND_AT_ONCE * 5)


def grep(pattern: str, path: str = ".", include: str = "*") -> list[str]:
    """The lines that match a regular expression in files below a folder, each as `file:number:line`."""
    wanted = re.compile(pattern)
    found: list[str] = []
    for name in _walk(path):
        if _matches(name, include) and len(found) <= FOUND_AT_ONCE:
            try:
                lines = _text(name).split("\n")
            except (OSError, ValueError):
                continue
            found += [f"{name}:{at}:{line[:LONGEST_LINE]}" for at, line in enumerate(lines, 1) if wanted.search(line)]
    return _first(found, FOUND_AT_ONCE)


TOOLS = (read_file, write_file, edit_file, delete, ls, glob, grep)


def _inside(path: str) -> Path:
    """Where a path leads; raises when that is outside of the workspace, or git's own."""
    top = Path.cwd().resolve()
    place = (top / path).resolve()
    if not place.is_relative_to(top):
        raise PermissionError(f"{path!r} is outside of the workspace")
    if ".git" in place.relative_to(top).parts:
        raise PermissionError(f"{path!r} is refused: git's own files are not edited")
    return place


def _text(path: str) -> str:
    place = _inside(path)
    if not place.is_file() and place.exists():
        raise ValueError(f"{path!r} is not a file")
    if place.stat().st_size > LARGEST_FILE_BYTES:
        raise ValueError(f"{path!r} is too large to read at once")
    return place.read_bytes().decode()


def _walk(path: str) -> list[str]:
    """The files below a folder, as paths from the workspace; folders that tools fill are left out."""
    top, found = Path.cwd().resolve(), []
    for folder, folders, files in os.walk(_inside(path)):
        folders[:] = sorted(name for name in folders if name not in UNLISTED)
        found += [str((Path(folder) / name).relative_to(top)) for name in sorted(files)]
    return found


def _matches(name: str, pattern: str) -> bool:
    """Whether a path or its last part is of a pattern; `**/` stands for any folders, also for none."""
    flat = pattern.replace("**/", "")
    return any(fnmatch.fnmatch(each, one) for each in (name, Path(name).name) for one in (pattern, flat))


def _first(found: list[str], most: int) -> list[str]:
    more = [f"… and {len(found) - most} more: ask for less"] if len(found) > most else []
    return found[:most] + more
