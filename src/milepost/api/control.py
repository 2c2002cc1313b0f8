"""The run in progress: which one it is, steering it, stopping it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from pathlib import Path


def current(roadmap: Path | str | None = None) -> str | None:
    """The id of the run in progress; None if there is none."""
    from milepost.engine.gates.answer import running

    return running(path_of(roadmap))


def steer(
    kind: str,
    roadmap: Path | str | None = None,
    *,
    task: str = "",
    value: str = "",
    run: str | None = None,
    database: str | None = None,
) -> str:
    """Steer the run in progress: pause, finish, drop a task, another agent, parallel; returns the run's id.

    A `note` is a text for the agents of all later attempts, at one task or at all of them. With `run` it is refused
    if another run is in progress.
    """
    from milepost.engine.agents.remote_agents import require_name
    from milepost.engine.records.steering import request
    from milepost.engine.workers import dispatch

    if kind == "agent" and value:
        require_name(value)
    where = dispatch.RunTarget(roadmap=path_of(roadmap), database=database, run=run)
    return dispatch.steer(where, request(kind, task, value))


def stop(
    roadmap: Path | str | None = None, *, at_once: bool = False, run: str | None = None, database: str | None = None
) -> str | None:
    """Stop the run in progress in another process and wait for it; returns its id, None if there is none.

    With `run` it is refused if another run is in progress.
    """
    from milepost.engine.workers import dispatch

    where = dispatch.RunTarget(roadmap=path_of(roadmap), database=database, run=run)
    return dispatch.stop(where, at_once=at_once)
