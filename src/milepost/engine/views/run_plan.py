"""The plan that a run is about: the roadmap as it is now, and tasks of the run that are gone from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import MilepostError, TaskUnknown
from milepost.core.events import StageStarted, TaskFinished
from milepost.core.task import Plan, Problem, Task
from milepost.engine.planning.make_plan import planned_here
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import find_run, where_kept
from milepost.engine.records.run_view import RunRef, redacted, redactor_of, titles_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task as a run sees it: `wave` counts from 1, 0 for one in none; `after` are the tasks that it waits for.

    `parts` are its subtasks. One that is `gone` is not in the roadmap any more, or was made on the way.
    """

    id: str
    title: str
    phase: str = ""
    section: str = ""
    wave: int = 0
    after: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    done: bool = False
    line: int = 0
    page: str = ""
    text: str = ""
    in_run: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFinding:
    """Something in the roadmap worth a look; `task` is empty where it is about none in particular."""

    line: int
    task: str
    text: str
    fatal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The tasks in the order of the roadmap, then those that are gone from it; `run` is empty where nothing was run."""

    run: str
    tasks: tuple[PlannedTask, ...]
    phases: tuple[str, ...] = ()
    findings: tuple[PlanFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What a run knows of tasks: those that it was asked for or came to, with their titles."""

    run: str
    titles: Mapping[str, str]
    flags: Mapping[str, str]


def run_plan(whose: RunRef) -> RunPlan:
    """The plan that a run is about, the newest unless another is named."""
    project = Project.find(whose.roadmap)
    known, redact = _known(project, whose), redactor_of(project)
    try:
        plan = planned_here(project.roadmap, known.flags)
    except MilepostError as unreadable:
        plan = Plan(tasks=(), waves=(), problems=(Problem(line=1, message=unreadable.message, fatal=True),))
    return redacted(put_together(plan, known.run, known.titles), redact)


def task_in(roadmap: Path | None, record: RunRecord, name: str, server: str | None = None) -> str:
    """The task of a run that a name means, as the run calls it; a subtask is one, too. Raises where it is in none."""
    plan = run_plan(RunRef(roadmap=roadmap, run=record.run, server=server))
    chosen = bool(record.order.get("wished")) or record.order.get("max_tasks") is not None
    known = {task.id.lower(): task.id for task in plan.tasks if task.in_run or not (chosen or task.done)}
    known |= {part.lower(): part for task in plan.tasks if task.id in known.values() for part in task.parts}
    if name.lower() not in known:
        raise TaskUnknown(f"there is no task {name[:80]!r} in run {record.run}", "milepost plan lists the tasks")
    return known[name.lower()]


def put_together(plan: Plan, run: str, titles: Mapping[str, str]) -> RunPlan:
    """A plan with the tasks of a run, each by its title; pure."""
    here = {task.id for top in plan.tasks for task in top.walk()}
    gone = tuple(
        PlannedTask(id=name, title=title or name, in_run=True, gone=True)
        for name, title in titles.items()
        if name not in here
    )
    tasks = _tasks(plan, titles)
    return RunPlan(
        run=run,
        tasks=(*tasks, *gone),
        phases=tuple(dict.fromkeys(task.phase for task in tasks if task.phase)),
        findings=tuple(_finding(problem, plan) for problem in plan.problems),
    )


def _tasks(plan: Plan, titles: Mapping[str, str]) -> tuple[PlannedTask, ...]:
    waves = {name: number for number, wave in enumerate(plan.waves, start=1) for name in wave}
    leaders = {member: task.id for task in plan.tasks for member in task.members}
    before = plan.before()
    return tuple(
        PlannedTask(
            id=task.id,
            title=task.title,
            phase=task.phase,
            section=task.section,
            wave=waves.get(leaders.get(task.id, task.id), 0),
            after=before[task.id],
            files=task.files,
            verify=task.verify,
            members=task.members,
            parts=tuple(part.id for part in task.walk() if part.id != task.id),
            done=task.status == "done",
            line=task.line,
            page=task.page,
            text=task.text,
            in_run=task.id in titles or leaders.get(task.id) in titles,
        )
        for task in plan.tasks
    )


def _finding(problem: Problem, plan: Plan) -> PlanFinding:
    return PlanFinding(line=problem.line, task=_about(problem, plan.tasks), text=problem.message, fatal=problem.fatal)


def _about(problem: Problem, tasks: tuple[Task, ...]) -> str:
    """The task that a problem names first, or that stands in its line."""
    first = problem.message.partition(" ")[0].rstrip(":,")
    named = (task.id for task in tasks if task.id == first)
    there = (task.id for task in tasks if (task.line, task.page) == (problem.line, problem.page))
    return next(named, "") or next(there, "")


def _known(project: Project, whose: RunRef) -> _Known:
    kept = where_kept(whose.roadmap, whose.run, whose.server)
    with Journal.look(kept.place) as journal:
        record = find_run(journal, kept.run)
        if record is None:
            return _Known(run="", titles={}, flags={})
        told = [entry.event for entry in journal.events_of(record.run)]
    titles = {event.task: event.title for event in told if isinstance(event, StageStarted | TaskFinished)}
    asked = [str(name) for name in record.order.get("tasks", ())]
    if any(name not in titles for name in asked):
        began = _titles_then(project, record)
        titles = {**{name: began.get(name, "") for name in asked}, **titles}
    return _Known(run=record.run, titles=titles, flags=_flags(record))


def _titles_then(project: Project, record: RunRecord) -> dict[str, str]:
    with TemporaryDirectory() as own:
        return titles_of(project.repository.git(Path(own)), record)


def _flags(record: RunRecord) -> dict[str, str]:
    """How the run planned: in its order, its groups and its dialect."""
    planning, manner = record.order.get("planning") or {}, record.order.get("manner") or {}
    found = {"order": planning.get("sequence"), "group": planning.get("grouping"), "dialect": manner.get("dialect")}
    return {name: str(value) for name, value in found.items() if value}
