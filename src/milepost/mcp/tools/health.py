"""Whether Milepost can work here: what this machine lacks, and what goes on in the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

import milepost
from milepost import machines, runs
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.tool import Brief
from milepost.serving.threads import aside

LONGEST = 200


class Lacking(Brief):
    """Something that is not as it should be; `needed` when nothing works without it."""

    what: str
    detail: str = ""
    needed: bool = False


class Remembered(Brief):
    """`unsynced` are rows that a shared memory was not told yet."""

    mode: str
    episodes: int = 0
    lessons: int = 0
    unsynced: int = 0


class Health(Brief):
    ok: bool
    version: str
    roadmap: str = ""
    running: str = ""
    memory: Remembered | None = None
    lacking: tuple[Lacking, ...] = ()


def health_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    async def health(workspace: Folder = "", limit: Annotated[int, Field(ge=1, le=100)] = 20) -> Health:
        """Whether Milepost can work here: what is missing on this machine, which roadmap, which run is in progress."""
        return await aside(lambda: _examined(place, workspace, limit))

    return (health,)


def _examined(place: ServerProject, workspace: str, limit: int) -> Health:
    findings = machines.doctor(place.named(workspace))
    wrong = sorted((one for one in findings if not one.ok), key=lambda one: not one.needed)
    try:
        roadmap = str(place.roadmap(workspace))
        running = runs.current(roadmap) or ""
    except milepost.MilepostError:
        roadmap = running = ""
    return Health(
        ok=not any(one.needed for one in wrong),
        version=milepost.__version__,
        roadmap=roadmap,
        running=running,
        memory=_remembered(place.named(workspace)),
        lacking=[_lacking(one) for one in wrong[:limit]],
    )


def _remembered(folder: Path) -> Remembered | None:
    """The memory of a project in figures; None where a folder has none."""
    try:
        with milepost.open_memory(folder) as memory:
            stats = memory.stats()
    except milepost.MilepostError:
        return None
    return Remembered(
        mode=stats.mode,
        episodes=sum(stats.episodes.values()),
        lessons=sum(stats.lessons.values()),
        unsynced=stats.unsynced.waiting,
    )


def _lacking(finding: machines.Finding) -> Lacking:
    return Lacking(
        what=f"{finding.area}: {finding.name}"[:LONGEST], detail=finding.detail[:LONGEST], needed=finding.needed
    )
