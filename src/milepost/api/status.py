"""What a run did and left: its status, plan, files, costs and mileposts, during the run and later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of, whose

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.engine.budget.costs import Costs
    from milepost.engine.views.run_files import FileText, RunFiles
    from milepost.engine.views.run_plan import RunPlan
    from milepost.engine.views.status import Status
    from milepost.repair.diagnosis.failure_log import FailureStats
    from milepost.workspace.mileposts import Milepost


def status(roadmap: Path | str | None = None, *, database: str | None = None) -> Status | None:
    """The newest run with its state and events; None if nothing was run."""
    from milepost.engine.views import status as look

    return look.status(path_of(roadmap), database)


def state_folder(roadmap: Path | str | None = None) -> Path:
    """The state directory of a roadmap; created if it does not exist."""
    from milepost.engine.project.project import Project
    from milepost.engine.project.state_directory import make_state

    state = Project.find(path_of(roadmap)).state
    make_state(state)
    return state


def proof_of(text: str) -> str:
    """What only this user makes of a text, on this machine: programs in the sandbox cannot, whatever they read."""
    from milepost.engine.project.state_mark import proof_of as made

    return made(text)


def adopt_state(roadmap: Path | str | None = None) -> tuple[Path, bool]:
    """Agree to the state directory of a roadmap that was made elsewhere, and so refused; False if it was yours already.

    If no roadmap is found, the state directory of the current folder is meant.
    """
    from milepost.core.errors import RoadmapMissing, StateRefused
    from milepost.engine.project.project import Project, find_roadmap
    from milepost.engine.project.state_directory import adopt_state as adopt
    from milepost.engine.run.recorded_agents import note_unfinished

    try:
        path = find_roadmap(path_of(roadmap))
    except (RoadmapMissing, StateRefused):
        if roadmap is not None:
            raise
        return adopt(Path.cwd())
    state, is_new = adopt(path.parent)
    if is_new:
        note_unfinished(Project.find(path))
    return state, is_new


def plan(run: str | None = None, roadmap: Path | str | None = None, *, database: str | None = None) -> RunPlan:
    """The tasks of the current roadmap with their state in a run, and tasks of the run that the roadmap no longer has.

    It is the newest run unless one is named; if nothing was run yet, it is the roadmap alone.
    """
    from milepost.engine.views.run_plan import run_plan

    return run_plan(whose(roadmap, run, database))


def files(run: str | None = None, roadmap: Path | str | None = None, *, database: str | None = None) -> RunFiles:
    """The files of a run's branch and which of them the run changed; the newest run unless one is named."""
    from milepost.engine.views.run_files import run_files

    return run_files(whose(roadmap, run, database))


def file_at(
    run: str | None, path: str, roadmap: Path | str | None = None, *, database: str | None = None
) -> FileText | None:
    """One file of a run's branch, read from git's objects; None if there is no such file."""
    from milepost.engine.views.run_files import file_at as look

    return look(whose(roadmap, run, database), path)


def costs(roadmap: Path | str | None = None, *, run: str | None = None, database: str | None = None) -> Costs | None:
    """The costs of a run by task, model and agent; the newest run unless one is named, None if nothing was run."""
    from milepost.engine.budget.costs import costs as add_up

    return add_up(path_of(roadmap), run, database)


def failures(roadmap: Path | str | None = None) -> tuple[FailureStats, ...]:
    """What failed here, most frequent first, and what fixed it."""
    from milepost.engine.views import status as look

    return look.failures(path_of(roadmap))


def log(roadmap: Path | str | None = None) -> tuple[Milepost, ...]:
    """All mileposts, newest first."""
    from milepost.engine.views import log as views

    return views.log(path_of(roadmap))
