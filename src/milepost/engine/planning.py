"""A roadmap's bytes as the plan that is followed: read in its manner, planned as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from milepost.core.task import Plan, Roadmap, Task
from milepost.engine.project import Project, read_bytes
from milepost.plan.graph import plan as make_plan
from milepost.plan.ground import UNSEEN, Ground
from milepost.plan.planning import PLAIN, Planning
from milepost.roadmap import read
from milepost.roadmap.manner import Manner
from milepost.workspace.mileposts import Mileposts

if TYPE_CHECKING:
    from milepost.engine.settings import Settings

SETTINGS = "milepost.toml"


Ended = Callable[[], frozenset[str]]


def nobody() -> frozenset[str]:
    """Where nobody looks for mileposts."""
    return frozenset()


def planned(
    content: bytes, manner: Manner, planning: Planning = PLAIN, ground: Ground = UNSEEN, ended: Ended = nobody
) -> Plan:
    """The plan of a roadmap. `ended` is asked for what has a milepost, where the roadmap itself cannot say it."""
    return make_plan(settled(read(content, manner), ended), planning, ground)


def settled(roadmap: Roadmap, ended: Ended) -> Roadmap:
    """The roadmap in which what cannot be ticked is done once it has a milepost."""
    if all(task.tickable or task.status == "done" for top in roadmap.tasks for task in top.walk()):
        return roadmap
    return replace(roadmap, tasks=_settled(roadmap.tasks, frozenset(map(str.lower, ended()))))


def _settled(tasks: tuple[Task, ...], ended: frozenset[str]) -> tuple[Task, ...]:
    return tuple(
        replace(
            task,
            status="done" if not task.tickable and task.id.lower() in ended else task.status,
            subtasks=_settled(task.subtasks, ended),
        )
        for task in tasks
    )


def ended_in(mileposts: Mileposts, commit: str, roadmap: str) -> Ended:
    """Asks a history which tasks of a roadmap have a milepost in it."""

    def ask() -> frozenset[str]:
        posts = (post for post in mileposts.history(commit) if post.roadmap in ("", roadmap))
        return frozenset(task for post in posts for task in post.tasks)

    return ask


def ended_for(project: Project) -> Ended:
    """Asks the history that the user stands on."""

    def ask() -> frozenset[str]:
        with TemporaryDirectory() as own:
            mileposts = Mileposts(project.repository.git(Path(own)))
            return ended_in(mileposts, project.repository.position().commit, project.roadmap_in_tree)()

    return ask


def read_now(project: Project) -> Roadmap:
    """The roadmap as the user's file is."""
    return read(read_bytes(project.roadmap), manner_here(project))


def manner_here(project: Project) -> Manner:
    """How the roadmap of a project is read."""
    return ways_of(project.roadmap)[0]


def ways_of(roadmap: Path) -> tuple[Manner, Planning]:
    """How a roadmap is read and planned, as the settings beside it say; where there are none, they are not imported."""
    if not (roadmap.parent / SETTINGS).exists():
        return Manner(name=roadmap.name), PLAIN
    from milepost.engine.settings import load

    settings = load(roadmap.parent)
    return manner_of(settings, roadmap.name), planning_of(settings)


def manner_of(settings: Settings, name: str) -> Manner:
    """How a roadmap of this name is read, as the settings say."""
    given = settings.roadmap
    return Manner(name=name, dialect=given.dialect, parents=given.tick_parents)


def planning_of(settings: Settings) -> Planning:
    """How plans are made, as the settings say."""
    given = settings.plan
    return Planning(sequence=given.order, grouping=given.group, unit=given.unit, imports=given.imports)
