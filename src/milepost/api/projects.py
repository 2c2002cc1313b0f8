"""Several projects: planned as one, run one after the other, or worked on together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from milepost.api.given import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from milepost.core.events import Event
    from milepost.engine.projects.atomic_commit import TogetherEnding
    from milepost.engine.projects.sequential import InTurnEnding
    from milepost.engine.records.run_request import NothingToDo, Wishes
    from milepost.plan.projects.dependencies import Family
    from milepost.plan.projects.joint_plan import FamilyPlan


def projects(folder: Path | str | None = None) -> Family:
    """The projects that a folder's `[workspace]` names, or its manifests declare, and who depends on whom."""
    from milepost.engine.planning.find_projects import family_here

    return family_here(folder_of(folder))


def projects_to_json(family: Family) -> dict[str, Any]:
    """Projects as `milepost projects --json` prints them."""
    from milepost.plan.projects.dependencies import to_json

    return to_json(family)


def names_projects(folder: Path | str) -> bool:
    """Whether the milepost.toml of a folder names several projects, so that these are planned as one."""
    from milepost.engine.planning.find_projects import workspace_members

    return bool(workspace_members(Path(folder), strict=True))


def plan_projects(folder: Path | str | None = None) -> FamilyPlan:
    """One plan over the roadmaps of all projects of a folder."""
    from milepost.engine.projects.joint_plan import plan_family

    return plan_family(folder_of(folder))


def projects_plan_to_json(plan: FamilyPlan) -> dict[str, Any]:
    """A plan of several projects as `milepost plan --workspace --json` prints it."""
    from milepost.plan.projects.joint_plan import to_json

    return to_json(plan)


def run_projects(
    folder: Path | str | None = None,
    *,
    agent: str | None = None,
    on_event: Callable[[str, Event], None] | None = None,
    **wishes: Unpack[Wishes],
) -> InTurnEnding | NothingToDo:
    """Run the projects of a folder one after the other, what each did taken in before the next begins.

    The keywords are those of `run`, for each of them, but for those that are about one roadmap or about workers; the
    budget is for all together. `on_event` is told the project's name with each event.
    """
    from milepost.engine.projects.sequential import InTurnWish, in_turn
    from milepost.engine.records.run_request import RunRequest

    wish = InTurnWish(folder=folder_of(folder), each=RunRequest(agent=agent, **wishes))
    return in_turn(wish, on_event or (lambda _, __: None))


def projects_run_to_json(ending: InTurnEnding | NothingToDo) -> dict[str, Any]:
    """The last line of `milepost run --workspace --json`."""
    from milepost.engine.projects.sequential import to_json

    return to_json(ending)


def together(
    *roadmaps: Path | str,
    mark: str | None = None,
    agent: str | None = None,
    budget_usd: float | None = None,
    new: bool = False,
    on_event: Callable[[str, Event], None] | None = None,
) -> TogetherEnding | NothingToDo:
    """Work on the roadmaps of several repositories as one: all of them get their mileposts and one mark, or none does.

    Goes on with what was begun or decided before; without roadmaps with that of this folder. `on_event` is told the
    project's name with each event.
    """
    from milepost.engine.projects.atomic import TogetherWish
    from milepost.engine.projects.atomic import together as work_together

    paths = tuple(Path(roadmap) for roadmap in roadmaps)
    wish = TogetherWish(roadmaps=paths, mark=mark, agent=agent, budget_usd=budget_usd, new=new)
    return work_together(wish, on_event or (lambda _, __: None))


def together_to_json(ending: TogetherEnding | NothingToDo) -> dict[str, Any]:
    """The last line of `milepost together --json`."""
    from milepost.engine.projects.atomic_commit import to_json

    return to_json(ending)
