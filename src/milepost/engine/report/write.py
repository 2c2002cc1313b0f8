"""Where reports are put, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.core.plain_names import plain_name
from milepost.engine.project.open_folder import is_open_file, put
from milepost.engine.project.project import Project
from milepost.engine.project.state_place import OPEN_FOLDER

FOLDER = "reports"


def place(roadmap: Path | None, run: str, ending: str) -> Path:
    """Where the report of a run is put when nobody says where: beside the roadmap, in a folder that git ignores."""
    return Project.find(roadmap).roadmap.parent / OPEN_FOLDER / FOLDER / f"{plain_name(run, 'a run')}.{ending}"


def write(text: str, path: Path) -> None:
    """Put a report into a file; whoever reads it meanwhile sees the old one or the new one."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if is_open_file(path):
            put(path, text)
            return
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
