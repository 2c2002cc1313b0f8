"""One plan over the roadmaps of several projects: what may start together, anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from milepost.core.task import Plan, Problem, Task
from milepost.plan.as_json import to_json as plan_to_json
from milepost.plan.graph.file_claims import Claims
from milepost.plan.graph.order import in_order
from milepost.plan.projects.order import in_sequence

Node = tuple[str, str]  # a project, and a task of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPlan:
    """The plan of one project. `places` are the files of its tasks, by their ids, as they are told apart everywhere.

    `repository` is the top of the one that it is in.
    """

    name: str
    folder: str
    roadmap: str
    plan: Plan
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repository: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectProblem:
    """A problem, and the project that has it; it is the family's own where that is empty."""

    project: str
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyPlan:
    """The plans of several projects, and the waves in which all their tasks may start."""

    projects: tuple[ProjectPlan, ...]
    waves: tuple[tuple[Node, ...], ...]
    problems: tuple[ProjectProblem, ...] = ()

    def task(self, node: Node) -> Task:
        return next(one.plan.task(node[1]) for one in self.projects if one.name == node[0])


def joint_plan(projects: Sequence[ProjectPlan], calls: Mapping[str, str], problems: Sequence[str] = ()) -> FamilyPlan:
    """The plan of a family. `calls` are the names by which its roadmaps call its projects, with their own names."""
    waits_for = _waits_for(projects, calls)
    sequence, circles = in_sequence(waits_for)
    told = [ProjectProblem(project="", problem=Problem(line=0, message=one)) for one in problems]
    told += [ProjectProblem(project=one.name, problem=problem) for one in projects for problem in one.plan.problems]
    told += _circles(projects, circles)
    return FamilyPlan(
        projects=tuple(projects), waves=tuple(_waves(projects, sequence, waits_for)), problems=tuple(told)
    )


def to_json(made: FamilyPlan) -> dict[str, Any]:
    """The plan in lists, strings and numbers."""
    return {
        "projects": [
            {"name": one.name, "folder": one.folder, "roadmap": one.roadmap, "plan": plan_to_json(one.plan)}
            for one in made.projects
        ],
        "waves": [[{"project": project, "id": name} for project, name in wave] for wave in made.waves],
        "problems": [
            {"project": one.project, "line": one.problem.line, "message": one.problem.message}
            | ({"fatal": True} if one.problem.fatal else {})
            for one in made.problems
        ],
    }


def _worked_on(plan: Plan) -> list[Task]:
    """The tasks that have attempts of their own: what is done in a group is done with the first of it."""
    led = {name for task in plan.tasks for name in task.members}
    return [task for task in plan.tasks if task.id not in led]


def _waits_for(projects: Sequence[ProjectPlan], calls: Mapping[str, str]) -> dict[Node, list[Node]]:
    """For each open task, in the order of projects and tasks, the open ones that it waits for."""
    worked_on = {one.name: _worked_on(one.plan) for one in projects}
    tops = {
        (one.name, name.casefold()): (one.name, task.id)
        for one in projects
        for task in worked_on[one.name]
        for part in task.walk()
        for name in (*part.ids, *task.ids)
    }
    by_node = {(name, task.id): task for name, tasks in worked_on.items() for task in tasks if task.status == "open"}
    nodes = [(name, task) for name, tasks in worked_on.items() for task in in_order([task.id for task in tasks])]
    before = {one.name: one.plan.before() for one in projects}
    found = {}
    for node in (node for node in nodes if node in by_node):
        task = by_node[node]
        here = [(node[0], other) for other in before[node[0]][task.id]]
        named = (
            (calls.get(other.project, ""), other.id.casefold()) for other in task.waits_elsewhere if not other.done
        )
        there = [tops[one] for one in named if one in tops]
        found[node] = [other for other in (*here, *there) if other in by_node]
    return found


def _waves(
    projects: Sequence[ProjectPlan], sequence: Sequence[Node], waits_for: Mapping[Node, Sequence[Node]]
) -> Iterator[tuple[Node, ...]]:
    places = {(one.name, name): files for one in projects for name, files in one.places.items()}
    rank = {node: place for place, node in enumerate(waits_for)}
    claims = Claims()
    wave_of: dict[Node, int] = {}
    for node in sequence:
        after_all = 1 + max((wave_of[other] for other in waits_for[node]), default=-1)
        wave_of[node] = claims.first_free(places.get(node, ()), after_all)
        claims.add(places.get(node, ()), wave_of[node])
    waves: dict[int, list[Node]] = {}
    for node in sorted(wave_of, key=rank.__getitem__):
        waves.setdefault(wave_of[node], []).append(node)
    yield from (tuple(waves[number]) for number in sorted(waves))


def _circles(projects: Sequence[ProjectPlan], circles: Sequence[tuple[Node, ...]]) -> Iterator[ProjectProblem]:
    """One problem for each circle that no project has alone: those are told already."""
    lines = {(one.name, task.id): task.line for one in projects for task in one.plan.tasks}
    for circle in circles:
        if len({project for project, _ in circle}) > 1:
            path = " → ".join(f"{project}:{name}" for project, name in (*circle, circle[0]))
            message = f"{path}: each waits for the next, so none can start"
            problem = Problem(line=lines[circle[0]], message=message, fatal=True)
            yield ProjectProblem(project=circle[0][0], problem=problem)
