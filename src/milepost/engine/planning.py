"""A roadmap's bytes as the plan that is followed: read in its manner, planned as the settings say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.core.task import Plan, Roadmap
from milepost.engine.family import family_of
from milepost.engine.project import Project, read_bytes
from milepost.plan.family.kinship import Family
from milepost.plan.graph import plan as make_plan
from milepost.plan.ground import UNSEEN, Ground
from milepost.plan.planning import PLAIN, Planning
from milepost.roadmap import read
from milepost.roadmap.manner import Manner

if TYPE_CHECKING:
    from milepost.engine.settings import Settings

SETTINGS = "milepost.toml"


def planned(content: bytes, manner: Manner, planning: Planning = PLAIN, ground: Ground = UNSEEN) -> Plan:
    """The plan of a roadmap."""
    return make_plan(read(content, manner), planning, ground)


def read_now(project: Project) -> Roadmap:
    """The roadmap as the user's file is."""
    return read(read_bytes(project.roadmap), manner_here(project))


def manner_here(project: Project) -> Manner:
    """How the roadmap of a project is read."""
    return ways_of(project.roadmap)[0]


def ways_of(roadmap: Path, family: Family | None = None) -> tuple[Manner, Planning]:
    """How a roadmap is read and planned, as the settings beside it say; where there are none, they are not imported.

    Its family is looked for where it is not given.
    """
    if not (roadmap.parent / SETTINGS).exists():
        return Manner(name=roadmap.name, projects=_projects(roadmap, family)), PLAIN
    from milepost.engine.settings import load

    settings = load(roadmap.parent)
    return manner_of(settings, roadmap, family), planning_of(settings)


def manner_of(settings: Settings, roadmap: Path, family: Family | None = None) -> Manner:
    """How a roadmap is read, as the settings say."""
    given = settings.roadmap
    return Manner(
        name=roadmap.name, dialect=given.dialect, parents=given.tick_parents, projects=_projects(roadmap, family)
    )


def _projects(roadmap: Path, family: Family | None) -> tuple[tuple[str, str], ...]:
    """What the projects of the roadmap's family may be called in it."""
    known = family or family_of(roadmap)
    own = known.of_roadmap(str(roadmap)) if known is not None else None
    return known.ways_to_call(own.name if own is not None else "") if known is not None else ()


def planning_of(settings: Settings) -> Planning:
    """How plans are made, as the settings say."""
    given = settings.plan
    return Planning(sequence=given.order, grouping=given.group, unit=given.unit, imports=given.imports)
