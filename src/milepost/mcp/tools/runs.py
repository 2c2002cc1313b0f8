"""Runs: begun in a process of their own, looked at with a bounded wait, stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from mcp.server.mcpserver import Context
from pydantic import Field

import milepost
from milepost import runs
from milepost.api.detached.request import new_run, require_inside
from milepost.mcp.log_levels import say
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.start_run import depart
from milepost.mcp.tool import Brief
from milepost.mcp.tools.status import RunStatus, standing_of
from milepost.mcp.wait_for_run import wait_for_run
from milepost.serving.threads import aside

if TYPE_CHECKING:
    from pathlib import Path

RunId = Annotated[str, Field(max_length=40, pattern="^[0-9a-zA-Z-]*$", description="Default: the newest")]
STOPPING_S = 45.0


class Started(Brief):
    """`run` is absent where nothing is to be done, and `reason` says why."""

    run: str = ""
    action: str
    reason: str = ""
    next: str = ""


class Cancelled(Brief):
    run: str = ""
    action: str
    next: str = ""


def run_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    return (
        _run_start(place),
        _run_status(place),
        _run_cancel(place),
    )


def _run_start(place: ServerProject) -> Callable[..., Any]:
    async def run_start(
        ctx: Context[Any, Any],
        workspace: Folder = "",
        agent: Annotated[str, Field(max_length=500, description="Default: the settings'")] = "",
        tasks: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=50)] = (),
        max_tasks: Annotated[int | None, Field(ge=1, le=10_000)] = None,
        parallel: Annotated[int | None, Field(ge=1, le=64)] = None,
        budget_usd: Annotated[float | None, Field(gt=0, le=10_000)] = None,
        new: Annotated[bool, Field(description="Abandon an interrupted run and start another")] = False,
    ) -> Started:
        """Work on the open tasks of ROADMAP.md; each is verified and committed. Returns the run's id at once; the run
        continues by itself, also without this server. Continues an interrupted run. Follow it with run_status."""
        roadmap = await aside(lambda: place.roadmap(workspace))
        await aside(lambda: require_inside(agent, roadmap))
        wish = new_run(
            roadmap,
            agent=agent or None,
            tasks=tasks,
            max_tasks=max_tasks,
            parallel=parallel,
            budget_usd=budget_usd,
            new=new,
        )
        begun = await depart(wish)
        if begun.what == "refused":
            raise milepost.MilepostError(begun.reason, begun.advice)
        await say(ctx, "info", f"run {begun.run or 'none'}: {begun.what}, {roadmap}")
        follow = f"run_status run={begun.run} wait_s=50" if begun.run else ""
        return Started(run=begun.run, action=begun.what, reason=begun.reason, next=follow)

    return run_start


def _run_status(place: ServerProject) -> Callable[..., Any]:
    async def run_status(
        ctx: Context[Any, Any],
        run: RunId = "",
        wait_s: Annotated[float, Field(ge=0, le=50, description="How long to wait for its end or a question")] = 0,
        workspace: Folder = "",
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
    ) -> RunStatus:
        """Status of a run: done, failed, in progress, what waits for a person, cost, result."""
        roadmap = await aside(lambda: place.roadmap(workspace))
        if wait_s:
            await wait_for_run(ctx, roadmap, run or None, wait_s)
        return await aside(lambda: standing_of(roadmap, run or None, limit))

    return run_status


def _run_cancel(place: ServerProject) -> Callable[..., Any]:
    async def run_cancel(
        run: RunId = "",
        at_once: Annotated[bool, Field(description="Do not wait for the steps in flight")] = False,
        workspace: Folder = "",
    ) -> Cancelled:
        """Stop the run in progress. Nothing is lost: run_start continues it."""
        roadmap = await aside(lambda: place.roadmap(workspace))
        going_on = await aside(lambda: runs.current(roadmap))
        if run and going_on != run.lower():
            raise milepost.MilepostError(f"run {run!r} is not in progress here", "run_status shows its state")
        return await _stopped(roadmap, going_on or "", at_once=at_once)

    return run_cancel


async def _stopped(roadmap: Path, run: str, *, at_once: bool) -> Cancelled:
    stopped: str | None = None
    with anyio.move_on_after(STOPPING_S) as patience:
        stopped = await aside(lambda: milepost.stop(roadmap, at_once=at_once))
    if patience.cancelled_caught:
        return Cancelled(run=run, action="stopping", next="run_status, or run_cancel at_once=true")
    if stopped is None:
        return Cancelled(action="nothing_to_stop")
    return Cancelled(run=stopped, action="stopped", next="run_start continues it")
