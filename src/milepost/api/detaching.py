"""Runs in a process of their own, which outlives this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from milepost.api.roadmaps import find_roadmap

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.detached import Begun
    from milepost.engine.records.run_request import Wishes


def start_detached(
    roadmap: Path | str | None = None, *, agent: str | None = None, stays: bool = False, **wishes: Unpack[Wishes]
) -> Begun:
    """Start a run as `run` does, by the same keywords, in a process of its own; gives what came of the start."""
    from milepost.departing import depart
    from milepost.detached import starting

    return depart(starting(find_roadmap(roadmap), agent=agent, stays=stays, **wishes))


def resume_detached(
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Go on with the run that was interrupted, or paused, in a process of its own.

    With `run` it is refused where another would go on.
    """
    from milepost.departing import depart
    from milepost.detached import StartWish
    from milepost.engine.records.run_request import RunRequest

    wish = RunRequest(budget_usd=budget_usd, database=database)
    return depart(StartWish(roadmap=find_roadmap(roadmap), wish=wish, resume=True, run=run, stays=stays))


def retry_detached(
    task: str,
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Try a task once more as `retry` does, in a process of its own; `held` says how."""
    from milepost.departing import depart
    from milepost.detached import StartWish
    from milepost.engine.run.retry import Retry, once_more

    path = find_roadmap(roadmap)
    again = once_more(Retry(task=task, roadmap=path, agent=agent, budget_usd=budget_usd, database=database))
    begun = depart(StartWish(roadmap=path, wish=again.wish, stays=stays))
    return begun.model_copy(update={"held": str(again)})


def why_it_ended(run: str, roadmap: Path | str | None = None) -> str:
    """Why a run in a process of its own came to no end, empty where nothing is known."""
    from milepost.detached import why_it_ended as look

    return look(find_roadmap(roadmap), run)
