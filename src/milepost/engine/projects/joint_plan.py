"""One plan for a family of projects: their roadmaps read, each in its own manner, and planned together."""

from __future__ import annotations

from os.path import lexists
from pathlib import Path

from milepost.core.errors import RoadmapMissing
from milepost.core.task import Plan
from milepost.engine.planning.find_projects import family_here, family_of
from milepost.engine.planning.make_plan import ended_at, planned, ways_of
from milepost.engine.planning.other_projects import with_elsewhere
from milepost.engine.project.project import read_bytes
from milepost.plan.projects.dependencies import Family, Sibling
from milepost.plan.projects.joint_plan import FamilyPlan, ProjectPlan, joint_plan


def plan_family(folder: Path | None = None) -> FamilyPlan:
    """The plan of all projects of a folder's family that have a roadmap."""
    family = family_here(folder)
    with_roadmap = [one for one in family.siblings if one.roadmap]
    if not with_roadmap:
        raise RoadmapMissing(
            f"no project in {family.folder!r} has a roadmap",
            'name their folders under [workspace] in milepost.toml: members = ["api", "packages/*"]',
        )
    widest = family_of(Path(with_roadmap[0].roadmap)) or family
    return joint_plan(
        [_plan_of(family, one, widest) for one in with_roadmap], names_in(widest, family), family.problems
    )


def names_in(widest: Family, family: Family) -> dict[str, str]:
    """What the projects of a family are called in their roadmaps, with the names that they have in it."""
    called = {one.roadmap: one.name for one in widest.siblings if one.roadmap}
    return {called[one.roadmap]: one.name for one in family.siblings if one.roadmap in called}


def _plan_of(family: Family, sibling: Sibling, widest: Family) -> ProjectPlan:
    path = Path(sibling.roadmap)
    manner, planning = ways_of(path, widest)
    made = with_elsewhere(planned(read_bytes(path), manner, planning, ended=ended_at(path)), path, widest)
    folder = (Path(family.folder) / sibling.folder).resolve()
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    return ProjectPlan(
        name=sibling.name,
        folder=sibling.folder,
        roadmap=sibling.roadmap,
        plan=made,
        places=_places(made, folder, top),
        repository=str(top),
    )


def _places(plan: Plan, folder: Path, top: Path) -> dict[str, tuple[str, ...]]:
    """Where the files of each task are, or will be: below its project, unless they are below the repository's top."""

    def place(file: str) -> str:
        at_top = top / file
        below_top = at_top.is_relative_to(folder) or (lexists(at_top) and not lexists(folder / file))
        return str(at_top if below_top else folder / file)

    return {task.id: tuple(map(place, task.files)) for task in plan.tasks}
