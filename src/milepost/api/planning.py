"""What a roadmap asks for: its plan, what that will take, and what an agent would be shown of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import path_of
from milepost.api.roadmaps import find_roadmap

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from milepost.core.task import Plan
    from milepost.engine.budget.forecast import Forecast
    from milepost.engine.commands.show_context import TaskContext
    from milepost.engine.routing.choose import Choice
    from milepost.plan.advice.proposals import Proposal
    from milepost.plan.graph.drawing import GraphForm


def plan(
    roadmap: Path | str | None = None,
    *,
    order: str | None = None,
    group: str | None = None,
    dialect: str | None = None,
) -> Plan:
    """Read a roadmap and plan it: tasks, waves, and what to look at before money is spent.

    `order`, `group` and `dialect` go before the settings of the same names in [plan] and [roadmap].
    """
    from milepost.engine.planning.find_projects import family_of
    from milepost.engine.planning.make_plan import planned_here
    from milepost.engine.planning.other_projects import with_elsewhere
    from milepost.plan.projects.cross_project_waits import saying_what_waits

    path = find_roadmap(roadmap)
    family = family_of(path)
    made = planned_here(path, {"order": order, "group": group, "dialect": dialect}, family)
    return saying_what_waits(with_elsewhere(made, path, family))


def plan_to_json(plan: Plan, forecast: Forecast | None = None) -> dict[str, Any]:
    """A plan as `milepost plan --json` prints it; the critical path is by time where a forecast knows it."""
    from milepost.plan.as_json import to_json

    return to_json(plan, forecast.seconds_by_task if forecast is not None else None)


def plan_to_graph(plan: Plan, form: GraphForm) -> str:
    """A plan as `milepost plan --graph` prints it: the text of a Mermaid flowchart or of a Graphviz graph."""
    from milepost.plan.graph.drawing import drawn

    return drawn(plan, form)


def critical_path(plan: Plan, forecast: Forecast | None = None) -> tuple[str, ...]:
    """The longest chain of open tasks, one after the other: by time where a forecast knows it, else by count."""
    from milepost.plan.graph.critical_path import critical_path as longest

    return longest(plan, forecast.seconds_by_task if forecast is not None else None)


def proposals(plan: Plan) -> tuple[Proposal, ...]:
    """How tasks that are too much for one attempt could be split."""
    from milepost.plan.advice.proposals import proposals_for

    return proposals_for(plan)


def forecast(roadmap: Path | str | None = None, made: Plan | None = None) -> Forecast | None:
    """What the open tasks of a roadmap will take; None where nothing similar was done here yet.

    `made` is its plan, where that was made already.
    """
    from milepost.engine.commands.show_forecast import foresee

    return foresee(find_roadmap(roadmap), made or plan(roadmap))


def choices(roadmap: Path | str | None = None, made: Plan | None = None) -> dict[str, Choice]:
    """Whom the router would choose for the open tasks that leave it to the agent `auto`, by their ids."""
    from milepost.engine.routing.candidates import foretell

    return foretell(find_roadmap(roadmap), made or plan(roadmap))


def context(
    task: str, roadmap: Path | str | None = None, *, tokens: int | None = None, agent: str | None = None
) -> TaskContext:
    """What an agent would be shown of the repository with a task; `tokens` is the budget in place of the settings'."""
    from milepost.engine.commands.show_context import context_now

    return context_now(path_of(roadmap), task, tokens=tokens, agent=agent)


def assignment(task: str, roadmap: Path | str | None = None) -> str:
    """What an agent would be asked for a task now, as text: the first attempt's prompt."""
    from milepost.engine.commands.show_assignment import assignment_now

    return assignment_now(path_of(roadmap), task)
