"""What the process of a detached run is asked, what it answers, and where it writes why it failed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Unpack

from pydantic import BaseModel, ConfigDict

from milepost.agents.outside_names import reaches_outside
from milepost.core.errors import Misuse
from milepost.engine.project.settings.load import load
from milepost.engine.records.run_request import RunOptions, RunRequest

ERROR_FILE = "detached.json"


class StartRequest(BaseModel):
    """A run to start, as `milepost run` does; with `resume` one to resume, as `milepost resume` does.

    With `run` no other one is resumed. One that `stays` waits for answers at gates when nothing else is left; others
    are suspended, and can be resumed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    roadmap: Path
    wish: RunRequest = RunRequest()
    resume: bool = False
    run: str | None = None
    stays: bool = False


def new_run(
    roadmap: Path, *, agent: str | None = None, stays: bool = False, **options: Unpack[RunOptions]
) -> StartRequest:
    """The request for a new run, by the keywords of `milepost.run`."""
    return StartRequest(roadmap=roadmap, wish=RunRequest(agent=agent, **options), stays=stays)


def is_outside(agent: str, roadmap: Path) -> bool:
    """Whether an agent has paths outside the repository in its name, and the settings there do not name it."""
    return reaches_outside(agent) and agent not in load(roadmap.parent).named_agents


def require_inside(agent: str, roadmap: Path) -> None:
    """Raise where a program, and not a person, names an agent with paths outside of the repository."""
    if is_outside(agent, roadmap):
        raise Misuse(
            f"the agent {agent!r} names paths outside the repository, which only a person may do",
            "name it in milepost.toml, or start the run with milepost run --agent",
        )


class DetachedStart(BaseModel):
    """The result of a start: a run in progress, nothing to do, or why it was refused.

    For a retry, `held` says which agent does it, and with which limits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: Literal["started", "resumed", "nothing_to_do", "refused"]
    run: str = ""
    reason: str = ""
    advice: str = ""
    held: str = ""


def error_file(roadmap: Path) -> Path:
    """Where a detached run that started writes why it did not finish."""
    from milepost.engine.project.project import state_of

    return state_of(roadmap) / ERROR_FILE


def error_of(roadmap: Path, run: str) -> str:
    """Why a detached run that started did not finish; empty if unknown."""
    try:
        result = DetachedStart.model_validate_json(error_file(roadmap).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return f"{result.reason}: {result.advice}" if result.run == run else ""
