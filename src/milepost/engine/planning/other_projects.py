"""How the tasks of other projects stand that a roadmap waits for, as the files of their roadmaps say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from milepost.core.errors import MilepostError
from milepost.core.task import Plan, Problem
from milepost.engine.planning.find_projects import family_of
from milepost.engine.planning.make_plan import ended_at, settled, ways_of
from milepost.engine.project.project import read_bytes
from milepost.plan.projects.cross_project_waits import Statuses, looked_up, statuses
from milepost.plan.projects.dependencies import Family
from milepost.roadmap import read


def with_elsewhere(plan: Plan, roadmap: Path, family: Family | None = None) -> Plan:
    """The plan, which also says how those tasks of other projects stand that it waits for, and what is odd there."""
    if not any(task.waits_elsewhere for task in plan.tasks):
        return plan
    found, problems = _seen(plan, family or family_of(roadmap))
    return looked_up(replace(plan, problems=(*plan.problems, *problems)), found)


def _seen(plan: Plan, family: Family | None) -> tuple[dict[str, Statuses], list[Problem]]:
    """How the tasks of each project stand that a plan waits for; and which of these cannot be read."""
    wanted = {other.project: task for task in plan.tasks for other in task.waits_elsewhere}
    found: dict[str, Statuses] = {}
    problems = []
    for project, task in wanted.items():
        sibling = family.named(project) if family is not None else None
        if sibling is None:
            continue  # it was there when the run began: what waits for it goes on to wait
        try:
            path = Path(sibling.roadmap)
            roadmap = read(read_bytes(path), ways_of(path, family)[0])
            found[project] = statuses(settled(roadmap, ended_at(path)))
        except MilepostError as error:
            problems.append(Problem(line=task.line, message=f"{project}: {error.message}", fatal=True))
    return found, problems
