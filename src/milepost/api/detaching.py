"""Runs in a process of their own, which outlives this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.roadmaps import find_roadmap
from milepost.api.running import _once_more

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.detached import Begun


def start_detached(
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    parallel: int | None = None,
    tasks: tuple[str, ...] = (),
    max_tasks: int | None = None,
    budget_usd: float | None = None,
    new: bool = False,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Start a run as `run` does, in a process of its own that outlives this one; gives what came of the start."""
    from milepost.departing import depart
    from milepost.detached import StartWish

    wish = StartWish(
        roadmap=find_roadmap(roadmap),
        agent=agent,
        parallel=parallel,
        tasks=tasks,
        max_tasks=max_tasks,
        budget_usd=budget_usd,
        new=new,
        stays=stays,
        database=database,
    )
    return depart(wish)


def resume_detached(
    roadmap: Path | str | None = None,
    *,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Go on with the run that was interrupted, or paused, in a process of its own that outlives this one."""
    from milepost.departing import depart
    from milepost.detached import StartWish

    path = find_roadmap(roadmap)
    return depart(StartWish(roadmap=path, resume=True, budget_usd=budget_usd, stays=stays, database=database))


def retry_detached(
    task: str,
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Try a task once more as `retry` does, in a process of its own that outlives this one; `held` says how."""
    from milepost.departing import depart
    from milepost.detached import StartWish

    again = _once_more(task, roadmap, agent, budget_usd, database)
    wish = StartWish(
        roadmap=find_roadmap(roadmap),
        tasks=(task,),
        stays=stays,
        database=database,
        **again.as_wish(),
    )
    return depart(wish).model_copy(update={"held": str(again)})


def why_it_ended(run: str, roadmap: Path | str | None = None) -> str:
    """Why a run in a process of its own came to no end, empty where nothing is known."""
    from milepost.detached import why_it_ended as look

    return look(find_roadmap(roadmap), run)
