"""The plan of a roadmap, its forecast, and what an agent would be shown for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of
from milepost.api.roadmaps import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from milepost.core.task import Plan
    from milepost.engine.budget.forecast import Forecast
    from milepost.engine.commands.check_plan import LineChecked
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
    """Read a roadmap and plan it: tasks, waves, and problems to look at before a run.

    `order`, `group` and `dialect` override the settings of the same names in [plan] and [roadmap].
    """
    from milepost.engine.planning.find_projects import family_of
    from milepost.engine.planning.make_plan import planned_here
    from milepost.engine.planning.other_projects import with_elsewhere
    from milepost.plan.projects.cross_project_waits import saying_what_waits

    path = find(roadmap)
    family = family_of(path)
    made = planned_here(path, {"order": order, "group": group, "dialect": dialect}, family)
    return saying_what_waits(with_elsewhere(made, path, family))


def to_json(plan: Plan, forecast: Forecast | None = None) -> dict[str, Any]:
    """A plan as `milepost plan --json` prints it; with a forecast the critical path is by time."""
    from milepost.plan.as_json import to_json as plan_to_json

    return plan_to_json(plan, forecast.seconds_by_task if forecast is not None else None)


def to_graph(plan: Plan, form: GraphForm) -> str:
    """A plan as `milepost plan --graph` prints it: the text of a Mermaid flowchart or of a Graphviz graph."""
    from milepost.plan.graph.drawing import drawn

    return drawn(plan, form)


def critical_path(plan: Plan, forecast: Forecast | None = None) -> tuple[str, ...]:
    """The longest chain of dependent open tasks: by time with a forecast, else by count."""
    from milepost.plan.graph.critical_path import critical_path as longest

    return longest(plan, forecast.seconds_by_task if forecast is not None else None)


def proposals(plan: Plan) -> tuple[Proposal, ...]:
    """Proposals to split tasks that are too big for one attempt."""
    from milepost.plan.advice.proposals import proposals_for

    return proposals_for(plan)


def check(
    roadmap: Path | str | None = None, made: Plan | None = None, *, on_line: Callable[[str], None] | None = None
) -> tuple[LineChecked, ...]:
    """Run the `Verify:` lines of open tasks on the last commit, in the sandbox: what each says before the work.

    `on_line` is told each line before it is run.
    """
    from milepost.engine.commands.check_plan import check_plan

    path = find(roadmap)
    return check_plan(path, made or plan(path), on_line or (lambda _: None))


def forecast(roadmap: Path | str | None = None, made: Plan | None = None) -> Forecast | None:
    """What the open tasks of a roadmap will cost and take; None if nothing similar was done here yet.

    `made` is its plan, if you have it already.
    """
    from milepost.engine.commands.show_forecast import foresee

    return foresee(find(roadmap), made or plan(roadmap))


def agent_to_name(roadmap: Path | str | None = None, made: Plan | None = None) -> str | None:
    """The agent that a run needs to be told, as settings and tasks name none: one that is here, None where none is."""
    from milepost.engine.planning.agent_to_name import agent_to_name as name_of

    return name_of(find(roadmap), made or plan(roadmap))


def choices(roadmap: Path | str | None = None, made: Plan | None = None) -> dict[str, Choice]:
    """The agents that the router would choose for the open tasks with the agent `auto`, by task id."""
    from milepost.engine.routing.candidates import foretell

    return foretell(find(roadmap), made or plan(roadmap))


def context(
    task: str, roadmap: Path | str | None = None, *, tokens: int | None = None, agent: str | None = None
) -> TaskContext:
    """What an agent would be shown of the repository for a task; `tokens` overrides the budget of the settings."""
    from milepost.engine.commands.show_context import context_now

    return context_now(path_of(roadmap), task, tokens=tokens, agent=agent)


def assignment(task: str, roadmap: Path | str | None = None) -> str:
    """The prompt of the first attempt at a task, as it would be now."""
    from milepost.engine.commands.show_context import assignment_now

    return assignment_now(path_of(roadmap), task)
