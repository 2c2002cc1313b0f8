"""The state of a run, as a person and as a program read it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from milepost import AttemptFinished, RunStarted, StageStarted, TaskFinished, Verdict, event_to_json
from milepost.cli.live import reason_lines, task_line
from milepost.cli.words import clipped, duration

if TYPE_CHECKING:
    from milepost import Status


def status_lines(status: Status | None, width: int) -> list[str]:
    """What is over, what is going on, and what to do next."""
    if status is None:
        return ["nothing was run here yet", "next   milepost run"]
    ago = duration(int((time.time() - status.started_at) * 1000))
    lines = [f"run {status.run} · {status.state} · started {ago} ago"]
    if status.holder is not None:
        lines[0] += f" · pid {status.holder.pid}"
    finished = {entry.event.task: entry.event for entry in status.entries if isinstance(entry.event, TaskFinished)}
    lines.append("")
    for event in finished.values():
        lines += [task_line(event, width), *reason_lines(event, _failed(status, event.task), width)]
    if status.state != "finished":
        lines += _under_way(status, set(finished), width)
    ahead = {"running": "milepost stop", "interrupted": "milepost resume", "left": "milepost run"}
    if status.state in ahead:
        lines += ["", f"next   {ahead[status.state]}"]
    return lines


def status_to_json(status: Status | None) -> dict[str, Any]:
    if status is None:
        return {"run": None, "state": "none", "tasks": []}
    finished = [event_to_json(entry.event) for entry in status.entries if isinstance(entry.event, TaskFinished)]
    return {
        "run": status.run,
        "state": status.state,
        "started_at": status.started_at,
        "pid": status.holder.pid if status.holder else None,
        "tasks": finished,
        "under_way": [event_to_json(stage) for stage, _ in _stages(status).values()] if status.summary is None else [],
        "summary": event_to_json(status.summary) if status.summary else None,
    }


def _failed(status: Status, task: str) -> list[AttemptFinished]:
    attempts = [entry.event for entry in status.entries if isinstance(entry.event, AttemptFinished)]
    return [attempt for attempt in attempts if attempt.task == task and attempt.verdict is Verdict.FAILED]


def _stages(status: Status) -> dict[str, tuple[StageStarted, float]]:
    """The stage that each task is at, and since when, of those that are not over."""
    over = {entry.event.task for entry in status.entries if isinstance(entry.event, TaskFinished)}
    stages = {}
    for entry in status.entries:
        if isinstance(entry.event, StageStarted) and entry.event.task not in over:
            stages[entry.event.task] = (entry.event, entry.at)
    return stages


def _under_way(status: Status, finished: set[str], width: int) -> list[str]:
    asked = next((entry.event.tasks for entry in status.entries if isinstance(entry.event, RunStarted)), ())
    stages = _stages(status)
    lines = []
    for stage, at in stages.values():
        what = f"{stage.stage:<7} {stage.task}  {stage.title}  attempt {stage.attempt}"
        clock = duration(int((time.time() - at) * 1000))
        lines.append(clipped(f"┃ {what}  {clock}" if status.state == "running" else f"  was at  {what}", width))
    waiting = [task for task in asked if task not in finished and task not in stages]
    return lines + ([clipped(f"  to do   {', '.join(waiting)}", width)] if waiting else [])
