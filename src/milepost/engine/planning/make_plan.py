"""A roadmap's bytes as the plan that is followed: read in its manner, planned as the settings say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from milepost.core.errors import MilepostError
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Plan, Roadmap, Task
from milepost.engine.planning.find_projects import family_of
from milepost.engine.project.project import Project, read_bytes
from milepost.plan.graph.build_graph import plan as make_plan
from milepost.plan.options import PLAIN, Planning
from milepost.plan.projects.dependencies import Family
from milepost.plan.repository_facts import UNSEEN, RepositoryFacts
from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner
from milepost.sandbox.read_plain import LARGEST_SETTINGS, read_plain
from milepost.workspace.mileposts import Mileposts

if TYPE_CHECKING:
    from milepost.engine.project.settings.settings import Settings

TASK_MASTER_STATE = "state.json"


Look = Callable[[Sequence[Task]], RepositoryFacts]
Ended = Callable[[], frozenset[str]]


def nobody() -> frozenset[str]:
    """Where nobody looks for mileposts."""
    return frozenset()


def planned(
    content: bytes,
    manner: Manner,
    planning: Planning = PLAIN,
    *,
    ground: RepositoryFacts = UNSEEN,
    look: Look | None = None,
    ended: Ended = nobody,
) -> Plan:
    """The plan of a roadmap, on a ground that is known or looked up for its tasks.

    `ended` is asked for what has a milepost, where the roadmap itself cannot say it.
    """
    roadmap = settled(read(content, manner), ended)
    return make_plan(roadmap, planning, ground if look is None else look(roadmap.tasks))


def planned_here(path: Path, flags: Mapping[str, str | None] | None = None, family: Family | None = None) -> Plan:
    """The plan of a roadmap as it lies in the user's folder, on what that folder and this machine say."""
    from milepost.engine.planning.repository_facts import ground_here

    given = {key: value for key, value in (flags or {}).items() if value is not None}
    manner, planning, here = _ways(path, given, family)

    def look(tasks: Sequence[Task]) -> RepositoryFacts:
        return ground_here(tasks, path, planning, here=here)

    return planned(read_bytes(path), manner, planning, look=look, ended=ended_at(path))


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


def ended_at(roadmap: Path) -> Ended:
    """Asks the history around a roadmap, if there is one: a plan is shown outside of repositories, too."""

    def ask() -> frozenset[str]:
        try:
            return ended_for(Project.find(roadmap))()
        except MilepostError:
            return frozenset()

    return ask


def read_now(project: Project) -> Roadmap:
    """The roadmap as the user's file is."""
    return read(read_bytes(project.roadmap), manner_here(project))


def manner_here(project: Project) -> Manner:
    """How the roadmap of a project is read."""
    return ways_of(project.roadmap)[0]


def ways_of(roadmap: Path, family: Family | None = None, dialect: str | None = None) -> tuple[Manner, Planning]:
    """How a roadmap is read and planned, as the settings beside it say; where there are none, they are not imported.

    Its family is looked for where it is not given; `dialect` goes before the one of the settings.
    """
    return _ways(roadmap, {"dialect": dialect} if dialect else {}, family)[:2]


def _ways(roadmap: Path, flags: Mapping[str, str], family: Family | None) -> tuple[Manner, Planning, bool]:
    """How a roadmap is read and planned, and whether its checks run with the programs of this machine."""
    if not flags and not (roadmap.parent / SETTINGS_FILE).exists():
        manner = Manner(name=roadmap.name, projects=_projects(roadmap, family), tag=current_tag(roadmap))
        return manner, PLAIN, True
    from milepost.engine.project.settings.load import load

    settings = load(roadmap.parent, flags)
    here = not settings.sandbox.container and not settings.run.database
    return manner_of(settings, roadmap, family), planning_of(settings), here


def manner_of(settings: Settings, roadmap: Path, family: Family | None = None) -> Manner:
    """How a roadmap is read, as the settings say."""
    given = settings.roadmap
    return Manner(
        name=roadmap.name,
        dialect=given.dialect,
        parents=given.tick_parents,
        projects=_projects(roadmap, family),
        tag=current_tag(roadmap),
    )


def current_tag(roadmap: Path) -> str:
    """The tag that task-master works on, which it keeps above the folder of its tasks; nothing where nobody says."""
    if roadmap.suffix != ".json":
        return ""
    with suppress(OSError, ValueError, RecursionError):
        state = json.loads(read_plain(roadmap.parent.parent / TASK_MASTER_STATE, LARGEST_SETTINGS))
        tag = state.get("currentTag") if isinstance(state, dict) else None
        return tag if isinstance(tag, str) else ""
    return ""


def _projects(roadmap: Path, family: Family | None) -> tuple[tuple[str, str], ...]:
    """What the projects of the roadmap's family may be called in it."""
    known = family or family_of(roadmap)
    own = known.of_roadmap(str(roadmap)) if known is not None else None
    return known.ways_to_call(own.name if own is not None else "") if known is not None else ()


def planning_of(settings: Settings) -> Planning:
    """How plans are made, as the settings say."""
    given = settings.plan
    return Planning(sequence=given.order, grouping=given.group, unit=given.unit, imports=given.imports)
