"""Whether a person agreed that the memory of a project is shared with a primary.

The settings come with the repository, and so from whoever wrote it: by themselves they send nothing anywhere. What was
agreed to is kept with the user, never in the repository, and is about this folder, this address and this variable.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.engine.project.settings.memory import MemorySettings


def agreed(given: MemorySettings, folder: Path) -> bool:
    """Whether the memory of the project in a folder may be shared as its settings want it."""
    try:
        return _line(given, folder) in _book().read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return False


def agree(given: MemorySettings, folder: Path) -> None:
    """Have the memory of the project in a folder shared from now on, in runs, too."""
    if agreed(given, folder):
        return
    book = _book()
    try:
        book.parent.mkdir(parents=True, exist_ok=True)
        with book.open("a") as lines:
            lines.write(f"{_line(given, folder)}\n")
    except OSError as error:
        raise StateUnwritable(f"{str(book)!r} cannot be written: {error.strerror}", "make it writable") from error


def _line(given: MemorySettings, folder: Path) -> str:
    said = "\0".join((str(folder.resolve()), given.primary, given.primary_token_from))
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()


def _book() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home, "milepost", "primaries")
