"""The folders that a pattern such as `packages/*` names: `*` is any name, `**` any way down."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from milepost.core.folders import NOT_SOURCE

DEEPEST = 8
# Folders of tools, which are full of other people's packages.
_NOT_OURS = NOT_SOURCE - {"venv"} | {"target", "vendor"}


def folders_named(base: Path, pattern: str) -> Iterator[Path]:
    """The folders below `base` that a pattern names, in the order of their names, each once."""
    rooted = Path("/") if pattern.startswith("/") else base
    parts = [part for part in pattern.replace("\\", "/").split("/") if part not in ("", ".")]
    yield from dict.fromkeys(_walk(rooted, parts, DEEPEST))


def is_pattern(pattern: str) -> bool:
    """Whether it stands for any number of folders."""
    return any(sign in pattern for sign in "*?[")


def _walk(folder: Path, parts: list[str], depth: int) -> Iterator[Path]:
    if not parts:
        if _is_folder(folder):
            yield folder.resolve()
        return
    first, *rest = parts
    if first == "**":
        yield from _walk(folder, rest, depth)
        for below in _folders(folder) if depth else ():
            if not below.is_symlink():  # a link may lead up again
                yield from _walk(below, parts, depth - 1)
    elif is_pattern(first):
        for below in _folders(folder):
            if fnmatchcase(below.name, first):
                yield from _walk(below, rest, depth)
    else:
        yield from _walk(folder / first, rest, depth)


def _folders(folder: Path) -> list[Path]:
    """What any name may stand for: folders that are not hidden and hold our own work."""
    try:
        names = sorted(folder.iterdir())
    except OSError:
        return []
    return [one for one in names if not one.name.startswith(".") and one.name not in _NOT_OURS and _is_folder(one)]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long names nothing
        return False
