"""Agreeing to what the files of a repository set: its settings, and lines of its roadmap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from milepost.core.asked_settings import SettingsQuestion
from milepost.core.errors import RoadmapMissing
from milepost.core.own_files import SETTINGS_FILE
from milepost.engine.planning.make_plan import planned_here
from milepost.engine.planning.roadmap_reach import reaching_in
from milepost.engine.project import consent
from milepost.engine.project.project import find_roadmap
from milepost.engine.project.settings.load import wanted_by
from milepost.engine.project.settings.reach import Reaching


def questions(roadmap: Path | None) -> tuple[SettingsQuestion, ...]:
    """What is to be asked, a file at a time."""
    return tuple(consent.question(file, wanted) for file, wanted in _wishes(roadmap) if consent.missing(file, wanted))


def agree(roadmap: Path | None, *, for_this_process: bool = False) -> None:
    """Keep that a person agreed to all that is set now."""
    keep = consent.agree_for_this_process if for_this_process else consent.agree
    for file, wanted in _wishes(roadmap):
        keep(file, wanted)


def withdraw(roadmap: Path | None) -> None:
    """Forget what was agreed to."""
    for file, _ in _wishes(roadmap):
        consent.withdraw(file)


def _wishes(roadmap: Path | None) -> Iterator[tuple[Path, list[Reaching]]]:
    """The files that want something, and what; a folder may have settings and no roadmap."""
    try:
        found = find_roadmap(roadmap)
    except RoadmapMissing:
        if roadmap is not None:
            raise
        yield Path.cwd() / SETTINGS_FILE, wanted_by(Path.cwd())
        return
    yield found.parent / SETTINGS_FILE, wanted_by(found.parent)
    yield found, reaching_in(planned_here(found).tasks)
