"""The projects of a workspace, their plan, and how their runs ended, as a person reads it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import milepost
from milepost.cli.format_text import clipped, counted, from_here, mark, padded, safe

if TYPE_CHECKING:
    from milepost import NothingToDo
    from milepost.projects import Family, FamilyPlan, InTurnEnding

_NAME_WIDTH = 32


def project_lines(family: Family, width: int) -> list[str]:
    """A line for each project in the order of their dependencies, and what is odd about them."""
    if not family.siblings:
        return [f"no projects found in {safe(from_here(Path(family.folder)))}", *_advice()]
    names = min(_NAME_WIDTH, max(len(one.name) for one in family.siblings))
    folders = min(_NAME_WIDTH, max(len(one.folder) for one in family.siblings))
    lines = [counted(len(family.siblings), "project"), ""]
    for one in family.siblings:
        roadmap = os.path.relpath(one.roadmap, Path(family.folder, one.folder)) if one.roadmap else "no roadmap"
        after = f"  depends on {', '.join(one.depends_on)}" if one.depends_on else ""
        kinds = "+".join(one.kinds) or "–"
        line = f"{padded(one.name, names)}  {padded(one.folder, folders)}  {kinds:<10}  {roadmap}{after}"
        lines.append(clipped(line, max(width, 72)))
    lines += ["", *(f"check  {safe(one)}" for one in family.problems), *([""] if family.problems else [])]
    if len(family.siblings) == 1:
        return [*lines, "there is only one project", *_advice()]
    return [*lines, "next   milepost plan --workspace"]


def joint_lines(made: FamilyPlan, width: int) -> list[str]:
    """The plan of all projects in waves, each task with its project, and what to look at."""
    tasks = {(one.name, task.id): task for one in made.projects for task in one.plan.tasks}
    done = sum(task.status == "done" for task in tasks.values())
    head = [counted(len(made.projects), "project"), counted(len(tasks), "task"), f"{done} done"]
    lines = [" · ".join([*head, f"{len(tasks) - done} open", counted(len(made.waves), "wave")]), ""]
    places = [node for wave in made.waves for node in wave]
    names = min(24, max((len(project) for project, _ in places), default=0))
    ids = min(24, max((len(name) for _, name in places), default=0))
    for number, wave in enumerate(made.waves):
        for place, (project, name) in enumerate(wave):
            lead = ("now" if number == 0 else "then") if place == 0 else ""
            task = tasks[project, name]
            waits = [other for other in task.depends_on if tasks[project, other].status == "open"]
            waits += [str(other) for other in task.waits_elsewhere if not other.done]
            facts = [", ".join(task.files), f"after {', '.join(waits)}" if waits else ""]
            rest = safe("  ".join(filter(None, facts)))
            title = padded(task.title, max(20, min(48, (width - names - ids - 9) // 2)))
            line = f"{lead:<6} {padded(project, names)}  {padded(name, ids)}  {title}  {rest}"
            lines.append(clipped(line.rstrip(), width))
    return [*lines, *_problem_lines(made, width), *_next_lines(made)]


def in_turn_lines(ending: InTurnEnding | NothingToDo) -> list[str]:
    """A line for each project, what it came to for all, and what to do next."""
    if isinstance(ending, milepost.NothingToDo):
        return [f"nothing to do: {ending.reason}"]
    width = max(len(one.name) for one in ending.projects)
    lines = [""]
    for one in ending.projects:
        passed = sum(task.verdict == "passed" for task in one.tasks)
        said = one.why or (f"{counted(passed, 'task')} passed" if one.tasks else "nothing to do")
        lines.append(f"{mark('failed' if one.why else 'passed')} {safe(one.name):<{width}}  {safe(said)}")
    lines.append("")
    if ending.complete:
        return [*lines, f"all {len(ending.projects)} projects are done and merged"]
    if ending.stopped:
        return [*lines, "stopped · resume at any time:   milepost run --workspace"]
    if ending.halted:
        return [*lines, safe(ending.halted), "next   milepost run --workspace   continues, once that is fixed"]
    return [*lines, "next   milepost run --workspace   tries the rest again"]


def _problem_lines(made: FamilyPlan, width: int) -> list[str]:
    if not made.problems:
        return [""]
    lines = ["", f"{counted(len(made.problems), 'thing')} to check before you spend money"]
    for one in made.problems:
        where = f"{one.project} line {one.problem.line}" if one.project else "workspace"
        fatal = "error: " if one.problem.fatal else ""
        lines.append(clipped(f"  {where}  {fatal}{one.problem.message}", max(width, 72)))
    return [*lines, ""]


def _next_lines(made: FamilyPlan) -> list[str]:
    if any(one.problem.fatal for one in made.problems):
        return ["next   fix the roadmaps, then: milepost plan --workspace"]
    if not made.waves:
        return ["no open tasks"]
    lines = ["next   milepost run --workspace   one project after the other, each merged when done"]
    if len({one.repository for one in made.projects}) == len(made.projects) > 1:
        lines += ["       milepost together          all at once: all are merged, or none"]
    return lines


def _advice() -> list[str]:
    return ['next   name them in milepost.toml, under [workspace]: members = ["api", "packages/*"]']
