"""A roadmap put into a file of the user's: whole or not at all, and over nothing that was there unless so meant."""

from __future__ import annotations

import os
from pathlib import Path

from milepost.core.errors import FileInTheWay, Misuse, StateUnwritable


def refuse_taken(path: Path, *, force: bool, source: Path | None = None) -> None:
    """Raise when a file may not be written; asked before anything is paid for, too."""
    if source is not None and path.resolve() == source.resolve():
        raise FileInTheWay(
            f"{str(path)!r} is the source document, and the tasks refer to its lines", "name another file after --write"
        )
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileInTheWay(f"{str(path)!r} is not a file that can be written", "name a file after --write")
    if path.exists() and not force:
        raise FileInTheWay(f"{str(path)!r} exists already", "name another file, or overwrite it with --force")
    if not path.parent.is_dir():
        raise Misuse(f"there is no folder {str(path.parent)!r}", "create it, or name another file after --write")


def place(text: str, path: Path, *, force: bool) -> None:
    """Write a file such that whoever reads it meanwhile sees the old one or the new one; a link is followed."""
    refuse_taken(path, force=force)
    path = path.resolve()
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_text(text, encoding="utf-8", newline="\n")
        if force:
            if path.exists():
                half.chmod(path.stat().st_mode)
            half.replace(path)
        else:
            _put_where_nothing_is(half, path)
    except OSError as error:
        raise StateUnwritable(
            f"{str(path)!r} cannot be written: {error.strerror or error}",
            "make the folder writable, or name another file",
        ) from error
    finally:
        half.unlink(missing_ok=True)


def _put_where_nothing_is(half: Path, path: Path) -> None:
    try:
        os.link(half, path)
    except FileExistsError as error:
        raise FileInTheWay(
            f"{str(path)!r} exists already", "name another file, or overwrite it with --force"
        ) from error
