"""Several projects: one plan, runs one after the other, or one atomic run over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from milepost.api.arguments import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from milepost.core.events import Event
    from milepost.engine.projects.atomic_commit import TogetherEnding
    from milepost.engine.projects.sequential import InTurnEnding
    from milepost.engine.records.run_request import NothingToDo, RunOptions
    from milepost.plan.projects.dependencies import Family
    from milepost.plan.projects.joint_plan import FamilyPlan


def find(folder: Path | str | None = None) -> Family:
    """The projects of a workspace, from `[workspace]` or from its manifests, with their dependencies."""
    from milepost.engine.planning.find_projects import family_here

    return family_here(folder_of(folder))


def to_json(family: Family) -> dict[str, Any]:
    """Projects as `milepost projects --json` prints them."""
    from milepost.plan.projects.dependencies import to_json as family_to_json

    return family_to_json(family)


def is_workspace(folder: Path | str) -> bool:
    """Whether the milepost.toml of a folder names several projects, which then have one plan."""
    from milepost.engine.planning.find_projects import workspace_members

    return bool(workspace_members(Path(folder), strict=True))


def plan(folder: Path | str | None = None) -> FamilyPlan:
    """One plan over the roadmaps of all projects of a folder."""
    from milepost.engine.projects.joint_plan import plan_family

    return plan_family(folder_of(folder))


def plan_to_json(plan: FamilyPlan) -> dict[str, Any]:
    """A plan of several projects as `milepost plan --workspace --json` prints it."""
    from milepost.plan.projects.joint_plan import to_json as family_plan_to_json

    return family_plan_to_json(plan)


def run(
    folder: Path | str | None = None,
    *,
    agent: str | None = None,
    on_event: Callable[[str, Event], None] | None = None,
    **options: Unpack[RunOptions],
) -> InTurnEnding | NothingToDo:
    """Run the projects of a folder one after the other; each is merged before the next one starts.

    The keywords are those of `milepost.run`, except those about one roadmap or about workers; the budget is for all
    projects together. `on_event` gets the project's name and the event.
    """
    from milepost.engine.projects.sequential import InTurnWish, in_turn
    from milepost.engine.records.run_request import RunRequest

    wish = InTurnWish(folder=folder_of(folder), each=RunRequest(agent=agent, **options))
    return in_turn(wish, on_event or (lambda _, __: None))


def run_to_json(ending: InTurnEnding | NothingToDo) -> dict[str, Any]:
    """The last line of `milepost run --workspace --json`."""
    from milepost.engine.projects.sequential import to_json as ending_to_json

    return ending_to_json(ending)


def run_atomic(
    *roadmaps: Path | str,
    mark: str | None = None,
    agent: str | None = None,
    budget_usd: float | None = None,
    new: bool = False,
    on_event: Callable[[str, Event], None] | None = None,
) -> TogetherEnding | NothingToDo:
    """One atomic run over the roadmaps of several repositories: all get their mileposts and one mark, or none does.

    Resumes what was begun or decided before; without roadmaps that of this folder. `on_event` gets the project's name
    and the event.
    """
    from milepost.engine.projects.atomic import TogetherWish, together

    paths = tuple(Path(roadmap) for roadmap in roadmaps)
    wish = TogetherWish(roadmaps=paths, mark=mark, agent=agent, budget_usd=budget_usd, new=new)
    return together(wish, on_event or (lambda _, __: None))


def run_atomic_to_json(ending: TogetherEnding | NothingToDo) -> dict[str, Any]:
    """The last line of `milepost together --json`."""
    from milepost.engine.projects.atomic_commit import to_json as ending_to_json

    return ending_to_json(ending)
