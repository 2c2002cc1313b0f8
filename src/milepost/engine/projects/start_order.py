"""Which runs of a family may be under way: what waits for another project's task begins when that has its milepost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import PlanInvalid
from milepost.core.events import Event, TaskFinished
from milepost.core.task import Plan, TaskElsewhere
from milepost.core.verdict import Verdict
from milepost.engine.planning.find_projects import family_of
from milepost.engine.planning.make_plan import ended_in, planned, ways_of
from milepost.engine.planning.other_projects import with_elsewhere
from milepost.engine.project.project import Project
from milepost.engine.projects.parallel import LegEnd, ProjectRun
from milepost.engine.records.journal import Journal
from milepost.engine.records.unmerged_run import run_ahead
from milepost.plan.projects.cross_project_waits import may_start, waiting_elsewhere
from milepost.plan.projects.dependencies import Family
from milepost.plan.projects.joint_plan import ProjectPlan, joint_plan
from milepost.workspace.mileposts import Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyRun:
    """A run that may begin: for which tasks of its project (all where none is named), with what these waited for."""

    project: str
    tasks: tuple[str, ...]
    met: tuple[str, ...]


def plans_of(projects: Mapping[str, Project]) -> dict[str, Plan]:
    """The plan of each project as its newest mileposts leave it, taken in or not."""
    return {name: _plan_ahead(project) for name, project in projects.items()}


def calls_of(projects: Mapping[str, Project]) -> dict[str, str]:
    """What projects are called in each other's roadmaps, with the names that they have here."""
    names = {str(project.roadmap): name for name, project in projects.items()}
    families = (family_of(Path(roadmap)) for roadmap in names)
    known = (one for family in families if family is not None for one in family.siblings if one.roadmap in names)
    return {one.name: names[one.roadmap] for one in known}


class Succession:
    """The runs of several projects on their way; told what happens, it says which may begin."""

    def __init__(self, plans: Mapping[str, Plan], calls: Mapping[str, str], interrupted: frozenset[str]) -> None:
        self._plans, self._calls, self._interrupted = plans, calls, set(interrupted)
        self._done = {name: _done(plan) for name, plan in plans.items()}
        self._under_way: set[str] = set()
        self.ends: dict[str, LegEnd] = {}
        self._refuse_circles()

    def starts(self) -> Iterator[ReadyRun]:
        """The runs that may begin now; each is counted as begun."""
        for name in self._plans:
            over = name in self.ends and self.ends[name].why
            if name not in self._under_way and not over and (start := self._start(name)) is not None:
                self._under_way.add(name)
                yield start

    def hear(self, name: str, news: Event | LegEnd) -> bool:
        """Take in what happened; True when something else may be able to start after it."""
        if isinstance(news, LegEnd):
            self._under_way.discard(name)
            self.ends[name] = news
            for task in news.finished.tasks if news.finished is not None else ():
                self._take_in(name, task.id, task.verdict)
            return True
        return isinstance(news, TaskFinished) and self._take_in(name, news.task, news.verdict)

    def ended(self) -> dict[str, LegEnd]:
        """How it ended for each project: one that still has to wait for another is not done."""
        stopped = any(end.stopped for end in self.ends.values())
        return {name: self._end(name, stopped=stopped) for name in self._plans}

    def _end(self, name: str, *, stopped: bool) -> LegEnd:
        end = self.ends.get(name, LegEnd())
        waiting = waiting_elsewhere(self._plans[name], self._met(name))
        left = [(task, other) for task, other in waiting.items() if task.casefold() not in self._done[name]]
        if end.why or not left:
            return end
        task, other = left[0]
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        return replace(end, why="was stopped" if stopped else f"{task} waits for {other}{more}", stopped=stopped)

    def _start(self, name: str) -> ReadyRun | None:
        met = self._met(name)
        if name in self._interrupted:  # it goes on with what it was asked for
            self._interrupted.discard(name)
            return ReadyRun(project=name, tasks=(), met=())
        plan = self._plans[name]
        done = {task.id for task in plan.tasks if task.id.casefold() in self._done[name]}
        tasks = may_start(plan, done, met)
        left = [name for wave in plan.waves for name in wave if name not in done]
        if not tasks:
            return None
        return ReadyRun(project=name, tasks=() if len(tasks) == len(left) else tasks, met=met)

    def _met(self, name: str) -> tuple[str, ...]:
        """The tasks of other projects that one waits for and that have their mileposts."""
        waits = dict.fromkeys(other for task in self._plans[name].tasks for other in task.waits_elsewhere)
        return tuple(str(other) for other in waits if other.done or self._has_milepost(other))

    def _has_milepost(self, other: TaskElsewhere) -> bool:
        return other.id.casefold() in self._done.get(self._calls.get(other.project, ""), set())

    def _take_in(self, name: str, task: str, verdict: Verdict | None) -> bool:
        if verdict is Verdict.PASSED:
            self._done[name] |= {one.casefold() for one in self._ids(name, task)}
        return verdict is Verdict.PASSED

    def _ids(self, name: str, task: str) -> Iterator[str]:
        """A task and all that is done with it."""
        found = next((one for one in self._plans[name].tasks if one.id == task), None)
        yield task
        for part in found.walk() if found is not None else ():
            yield from part.ids

    def _refuse_circles(self) -> None:
        plans = [ProjectPlan(name=name, folder="", roadmap="", plan=plan) for name, plan in self._plans.items()]
        quiet = [replace(one, plan=replace(one.plan, problems=())) for one in plans]
        for one in joint_plan(quiet, self._calls).problems:
            raise PlanInvalid(one.problem.message, "fix one of the roadmaps; milepost plan --workspace shows them all")


def onward(
    succession: Succession, leg: Callable[[ReadyRun], ProjectRun | None]
) -> Callable[[str, Event | LegEnd], list[ProjectRun]]:
    """What is told to whoever does the runs: the next ones, whenever something else may start."""

    def news(name: str, what: Event | LegEnd) -> list[ProjectRun]:
        return legs_of(succession, leg) if succession.hear(name, what) else []

    return news


def legs_of(succession: Succession, leg: Callable[[ReadyRun], ProjectRun | None]) -> list[ProjectRun]:
    return [made for start in list(succession.starts()) if (made := leg(start)) is not None]


def _done(plan: Plan) -> set[str]:
    return {one.casefold() for task in plan.tasks if task.status == "done" for part in task.walk() for one in part.ids}


def _plan_ahead(project: Project) -> Plan:
    family: Family | None = family_of(project.roadmap)
    manner, planning = ways_of(project.roadmap, family)
    user = project.repository.position()
    with TemporaryDirectory() as own, Journal.look(project.database) as journal:
        mileposts = Mileposts(project.repository.git(Path(own)))
        ahead = run_ahead(journal.runs(), mileposts, user)
        tip = ahead.tip if ahead is not None else user.commit
        content = mileposts.roadmap_at(tip, project.roadmap_in_tree) or b""
        made = planned(content, manner, planning, ended=ended_in(mileposts, tip, project.roadmap_in_tree))
    return with_elsewhere(made, project.roadmap, family)
