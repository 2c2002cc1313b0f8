"""Tasks that were worked on under another name, as a person reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import milepost
from milepost import roadmaps
from milepost.cli.format_text import clipped, safe

if TYPE_CHECKING:
    from milepost.roadmaps import Renamed


def renamed_tasks(roadmap: Path | None) -> Sequence[Renamed]:
    """The renamed tasks of a roadmap; where they cannot be told, a plan is shown all the same."""
    try:
        return roadmaps.renamed_tasks(roadmap)
    except milepost.MilepostError:
        return ()


def renamed_lines(found: Sequence[Renamed], width: int) -> list[str]:
    """What each was called before: its proof and its attempts are its own."""
    return [clipped(safe(f"renamed  {one.id} was {one.was} ({one.title})"), max(width, 72)) for one in found]


def renamed_to_json(found: Sequence[Renamed]) -> dict[str, Any]:
    """The same for `plan --json`: left out where nothing was renamed."""
    return {"renamed": [asdict(one) for one in found]} if found else {}
