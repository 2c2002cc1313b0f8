"""A roadmap in the commands that are proposed to people: named where they would take another one, or none."""

from __future__ import annotations

import shlex
from pathlib import Path

import milepost
from milepost.cli.words import from_here


def argument(roadmap: Path | None) -> str:
    """What comes after `milepost run` so that it takes this roadmap: nothing where it does by itself."""
    name = _name(roadmap)
    return f" {name}" if name else ""


def option(roadmap: Path | None) -> str:
    """The same after `milepost undo 1.1`."""
    name = _name(roadmap)
    return f" --roadmap {name}" if name else ""


def _name(roadmap: Path | None) -> str:
    path, by_itself = _found(roadmap), _found(None)
    return shlex.quote(from_here(path)) if roadmap is not None and path is not None and path != by_itself else ""


def _found(roadmap: Path | None) -> Path | None:
    try:
        return milepost.find_roadmap(roadmap)
    except milepost.MilepostError:  # whoever is asked to work on it says so
        return None
