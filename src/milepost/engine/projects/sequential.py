"""The projects of a family one after the other: what one did is taken in before the next begins.

Nothing is kept about it: what is done is ticked in the user's files, what was interrupted is recorded as a run. Killed
anywhere, the next call finds both, and goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from milepost.core.errors import Misuse, PlanInvalid
from milepost.core.events import RunFinished, TaskSummary
from milepost.core.task import Plan
from milepost.core.verdict import Verdict
from milepost.engine.gates.unfinished_run import unfinished
from milepost.engine.project.project import Project
from milepost.engine.projects.atomic import alone, refuse_unmovable, refuse_workers
from milepost.engine.projects.atomic_commit import naming
from milepost.engine.projects.budget_shares import SMALLEST_USD
from milepost.engine.projects.joint_plan import plan_family
from milepost.engine.projects.parallel import LegEnd, OnEvent, ProjectRun, travel_abreast
from milepost.engine.records.run_request import NothingToDo, RunRequest, command_of
from milepost.engine.records.values_json import dump
from milepost.plan.projects.cross_project_waits import may_start, met, waiting_elsewhere
from milepost.plan.projects.joint_plan import FamilyPlan, ProjectPlan
from milepost.store.kill_points import reached


@dataclass(frozen=True, slots=True, kw_only=True)
class InTurnWish:
    """What is asked of a family: where it is, and what is asked of each run; the budget is for all of them."""

    folder: Path | None = None
    each: RunRequest = RunRequest()  # noqa: RUF009 (it is frozen)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectEnding:
    """How it ended for one project: the runs that it had, its tasks in them, and why it is not done, if it is not."""

    name: str
    roadmap: str
    runs: tuple[str, ...] = ()
    tasks: tuple[TaskSummary, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InTurnEnding:
    """How it ended for all of them. `halted` is why the projects after one did not get their turn."""

    projects: tuple[ProjectEnding, ...]
    cost_usd: float
    halted: str = ""
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """True when every task of every project has its milepost."""
        return not self.halted and not any(one.why for one in self.projects)


@dataclass(slots=True)
class _Turns:
    """What came of the runs so far, by the names of their projects."""

    finished: dict[str, list[RunFinished]] = field(default_factory=dict)
    halted: str = ""
    stopped: bool = False

    def take_in(self, name: str, end: LegEnd) -> None:
        """Note how a run ended; nobody is next after one that is not over, or whose mileposts are not taken in."""
        if end.finished is None:
            self.halted, self.stopped = f"{name}: {end.why}", end.stopped
            return
        self.finished.setdefault(name, []).append(end.finished)
        if end.finished.by_hand and not end.finished.fast_forwarded:
            self.halted = f"{name}: its mileposts could not be merged into your branch: {end.finished.by_hand}"

    @property
    def cost_usd(self) -> float:
        return sum(run.cost_usd for runs in self.finished.values() for run in runs)

    def tasks(self, name: str) -> dict[str, TaskSummary]:
        return {task.id: task for run in self.finished.get(name, ()) for task in run.tasks}

    def given_up(self, name: str) -> frozenset[str]:
        """What is not begun again by this call: it was tried, or nobody wants it, or it had to wait twice."""
        ends = [task for run in self.finished.get(name, ()) for task in run.tasks if task.verdict is not Verdict.PASSED]
        waited = Counter(task.id for task in ends if task.verdict is None and task.reason.startswith("waits for "))
        return frozenset(task.id for task in ends if waited[task.id] != 1)


def in_turn(wish: InTurnWish, on_event: OnEvent) -> InTurnEnding | NothingToDo:
    """Run the projects of a family one after the other, each as far as it can go, until none can go on."""
    _refuse_for_one(wish.each)
    made = _planned(wish)
    projects = {one.name: Project.find(Path(one.roadmap)) for one in made.projects}
    with alone(projects):
        for name, project in projects.items():
            with naming(name):
                refuse_workers(project)
                refuse_unmovable(project)
        if not made.waves and not any(map(unfinished, projects.values())):
            return NothingToDo(reason="all tasks of all projects are done")
        turns = _Turns()
        while not turns.halted and (leg := _next(wish, projects, turns)) is not None:
            end = travel_abreast((leg,), on_event).get(leg.name, LegEnd(why="was stopped", stopped=True))
            turns.take_in(leg.name, end)
            reached(f"in-turn/{leg.name}")
        return InTurnEnding(
            projects=tuple(_ending(one, turns) for one in plan_family(wish.folder).projects),
            cost_usd=turns.cost_usd,
            halted=turns.halted,
            stopped=turns.stopped,
        )


def to_json(ending: InTurnEnding | NothingToDo) -> dict[str, Any]:
    """How it ended, as the command line prints it for machines."""
    if isinstance(ending, NothingToDo):
        return {"event": "nothing_to_do", "reason": ending.reason}
    return {"event": "workspace_finished", "complete": ending.complete, **dump(ending)}


def _refuse_for_one(wish: RunRequest) -> None:
    """Raise where something is asked for that is one run's, or that is done elsewhere."""
    if wish.tasks or wish.max_tasks or wish.new or wish.held or wish.met or wish.database or wish.remote:
        raise Misuse(
            "--workspace runs all open tasks of all projects on this machine: it cannot be combined with --task, "
            "--max-tasks, --new, --database or --remote",
            "milepost plan --workspace shows what would be done",
        )


def _planned(wish: InTurnWish) -> FamilyPlan:
    """The plan of the family, which nothing may be wrong with."""
    made = plan_family(wish.folder)
    fatal = [one for one in made.problems if one.problem.fatal]
    if fatal:
        more = f" (and {len(fatal) - 1} more)" if len(fatal) > 1 else ""
        raise PlanInvalid(
            f"{fatal[0].project}, line {fatal[0].problem.line}: {fatal[0].problem.message}{more}",
            "fix the roadmap; milepost plan --workspace shows every problem",
        )
    return made


def _next(wish: InTurnWish, projects: Mapping[str, Project], turns: _Turns) -> ProjectRun | None:
    """The run whose turn it is: one that was interrupted, else that of the first project that can do something."""
    begun = ((name, ()) for name, project in projects.items() if unfinished(project) is not None)
    name, tasks = next(chain(begun, _able(_planned(wish), turns)), ("", ()))
    if not name:
        return None
    left: float | None = None
    if wish.each.budget_usd is not None:
        left = wish.each.budget_usd - turns.cost_usd
        if left < SMALLEST_USD:
            turns.halted = f"${turns.cost_usd:.2f} is spent of ${wish.each.budget_usd:.2f}: raise it with --budget"
            return None
    asked = replace(wish.each, roadmap=projects[name].roadmap, tasks=tasks, budget_usd=left)
    return ProjectRun(name=name, words=command_of(asked))


def _able(made: FamilyPlan, turns: _Turns) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The projects that can do something, each with the tasks; with none where that is all that is open there."""
    for one in made.projects:
        tasks = may_start(one.plan, (), met(one.plan), turns.given_up(one.name))
        if tasks:
            yield one.name, () if len(tasks) == _count_open(one.plan) else tasks


def _count_open(plan: Plan) -> int:
    return sum(map(len, plan.waves))  # members are done with the first of their group


def _ending(one: ProjectPlan, turns: _Turns) -> ProjectEnding:
    tasks = turns.tasks(one.name)
    return ProjectEnding(
        name=one.name,
        roadmap=one.roadmap,
        runs=tuple(run.run for run in turns.finished.get(one.name, ())),
        tasks=tuple(tasks.values()),
        why=_why(one.plan, tasks),
    )


def _why(plan: Plan, tasks: Mapping[str, TaskSummary]) -> str:
    """Why a project is not done: what failed, else what waits elsewhere, else what it did not come to."""
    left = [task for task in plan.tasks if task.status == "open"]
    if not left:
        return ""
    more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
    waiting = waiting_elsewhere(plan, met(plan))
    for task in left:
        tried = tasks.get(task.id)
        if tried is not None and tried.verdict is not None:
            said = tried.reason or f"its milepost is {(tried.commit or '')[:7]}"
            return f"{task.id} {tried.verdict.value}: {said}{more}"
    for task in left:
        if task.id in waiting:
            return f"{task.id} waits for {waiting[task.id]}{more}"
    return f"{left[0].id} was not started{more}"
