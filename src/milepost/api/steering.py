"""What is asked of a run that is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import path_of

if TYPE_CHECKING:
    from pathlib import Path


def running(roadmap: Path | str | None = None) -> str | None:
    """The run that a process works on here now, None where there is none."""
    from milepost.engine.gates.answer import running as going_on

    return going_on(path_of(roadmap))


def steer(
    kind: str,
    roadmap: Path | str | None = None,
    *,
    task: str = "",
    value: str = "",
    run: str | None = None,
    database: str | None = None,
) -> str:
    """Ask something of the run that is on: pause, finish, drop a task, another agent, parallel; gives the run's id.

    A `note` is words to whoever makes the attempts that begin from then on: at one task, or at all without one.
    With `run` it is refused where another would be asked.
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
    """Stop the run that is going on in another process, and wait until it has; gives its id, None without one.

    With `run` it is refused where another would be stopped.
    """
    from milepost.engine.workers import dispatch

    where = dispatch.RunTarget(roadmap=path_of(roadmap), database=database, run=run)
    return dispatch.stop(where, at_once=at_once)
