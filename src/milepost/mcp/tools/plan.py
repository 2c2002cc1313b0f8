"""The plan of a roadmap: what is open, in which order, and what to look at first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

import milepost
from milepost import plans
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.tool import Brief
from milepost.serving.threads import aside

LONGEST_TITLE = 160


class OpenTask(Brief):
    id: str
    title: str
    after: tuple[str, ...] = ()


class Planned(Brief):
    """`tasks` are open ones, from `offset` on; `next` is the offset of more."""

    open: int
    done: int
    tasks: tuple[OpenTask, ...] = ()
    ready: tuple[str, ...] = Field(default=(), description="may start now")
    problems: tuple[str, ...] = Field(default=(), description="fatal ones stop a run")
    next: int | None = None


def planning_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    async def plan(
        workspace: Folder = "",
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
        offset: Annotated[int, Field(ge=0, le=100_000)] = 0,
    ) -> Planned:
        """Open tasks of the project's ROADMAP.md, what may start now, and problems in it. Changes nothing."""
        made = await aside(lambda: milepost.plan(place.roadmap(workspace)))
        return _brief(made, offset, limit)

    return (plan,)


def _brief(made: milepost.Plan, offset: int, limit: int) -> Planned:
    left = [task for task in made.tasks if task.status == "open"]
    page = left[offset : offset + limit]
    more = offset + limit if offset + limit < len(left) else None
    return Planned(
        open=len(left),
        done=len(made.tasks) - len(left),
        tasks=[OpenTask(id=one.id, title=one.title[:LONGEST_TITLE], after=list(one.depends_on)) for one in page],
        ready=list(made.waves[0][:limit]) if made.waves else [],
        problems=[_problem(one) for one in made.problems[:limit]],
        next=more,
    )


def _problem(problem: plans.Problem) -> str:
    return f"{'fatal: ' if problem.fatal else ''}line {problem.line}: {problem.message}"[: 2 * LONGEST_TITLE]
