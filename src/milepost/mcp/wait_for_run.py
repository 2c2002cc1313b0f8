"""Waiting for a run, within bounds and with progress: until it is over, or somebody is asked something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context

import milepost
from milepost import events, runs
from milepost.mcp.sendable_text import sound
from milepost.serving.threads import aside

LOOK_S = 0.5
LONGEST_MESSAGE = 200


async def wait_for_run(ctx: Context[Any, Any], roadmap: Path, run: str | None, wait_s: float) -> None:
    """Return when the run is not going on any more, when it asks a person, or when the time is over."""
    place = max((one.seq for one in await aside(lambda: _after(roadmap, run, 0))), default=0)
    with anyio.move_on_after(wait_s):
        told = 0
        while await aside(lambda: _goes_on_unasked(roadmap, run)):
            await anyio.sleep(LOOK_S)
            entries = await aside(lambda place=place: _after(roadmap, run, place))  # type: ignore[misc]
            for entry in entries:
                place, told = entry.seq, told + 1
                if words := in_words(entry.event):
                    await ctx.report_progress(told, message=sound(words[:LONGEST_MESSAGE]))


def in_words(event: milepost.Event) -> str:
    """An event that is worth a line to whoever waits; empty for others."""
    match event:
        case events.StageStarted(task=task, stage=stage, attempt=attempt):
            return f"{task}: {stage}, attempt {attempt}"
        case milepost.CheckFinished(task=task, name=name, outcome=outcome):
            return f"{task}: {name} {outcome}"
        case milepost.TaskFinished(task=task, verdict=verdict, reason=reason):
            return f"{task}: {verdict.value if verdict else 'not done'} · {reason}"
        case milepost.GateOpened(task=task, question=question):
            return f"{task}: a person is asked: {question}"
        case events.BudgetReached(message=message):
            return message
        case events.ServiceWaits(task=task, what=what):
            return f"{task}: waits for its service: {what}"
        case milepost.RunFinished():
            return "the run is over"
        case _:
            return ""


def _after(roadmap: Path, run: str | None, place: int) -> tuple[events.Entry, ...]:
    return tuple(events.read(roadmap, run=run, after=place))


def _goes_on_unasked(roadmap: Path, run: str | None) -> bool:
    """Whether the run is going on and waits for nobody, also not since before it was looked at."""
    now = runs.current(roadmap)
    if now is None or (run is not None and now != run.lower()):
        return False
    return all(gate.run != now or gate.kind == "held" for gate in milepost.waiting_gates(roadmap))
