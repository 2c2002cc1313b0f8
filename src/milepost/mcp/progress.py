"""Progress of something that says nothing of itself: how long it has been going on."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import Context

T = TypeVar("T")

EVERY_S = 1.0


async def ticking(ctx: Context[Any, Any], what: str, at_most_s: float, work: Callable[[], Awaitable[T]]) -> T:
    """The result of some work, during which whoever asked for progress hears that it goes on."""
    results: list[T] = []
    problems: list[Exception] = []
    async with anyio.create_task_group() as group:
        group.start_soon(_tick, ctx, what, at_most_s)
        try:
            results.append(await work())
        except Exception as problem:  # not through the group, which would wrap it
            problems.append(problem)
        group.cancel_scope.cancel()
    if problems:
        raise problems[0]
    return results[0]


async def _tick(ctx: Context[Any, Any], what: str, at_most_s: float) -> None:
    began = time.monotonic()
    while True:
        await anyio.sleep(EVERY_S)
        gone = time.monotonic() - began
        await ctx.report_progress(round(gone, 1), at_most_s, f"{what} for {gone:.0f} s")
