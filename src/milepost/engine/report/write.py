"""Where reports are put, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.engine.project.project import Project

FOLDER = "reports"


def place(roadmap: Path | None, run: str, ending: str) -> Path:
    """Where the report of a run is put when nobody says where: in the state directory, which git ignores."""
    return Project.find(roadmap).state / FOLDER / f"{run}.{ending}"


def write(text: str, path: Path) -> None:
    """Put a report into a file; whoever reads it meanwhile sees the old one or the new one."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.parent.name == FOLDER:
            path.parent.mkdir(exist_ok=True)
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")  # nothing can be put in the place of a pipe or a device
            return
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise StateUnwritable(
            f"could not write the report to {str(path)!r}: {error.strerror or error}", "name another file"
        ) from error
