"""What the process of a detached run is asked, what it answers, and where it writes why it failed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Unpack

from pydantic import BaseModel, ConfigDict

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
    roadmap: Path, *, agent: str | None = None, stays: bool = False, **wishes: Unpack[RunOptions]
) -> StartRequest:
    """The request for a new run, by the keywords of `milepost.run`."""
    return StartRequest(roadmap=roadmap, wish=RunRequest(agent=agent, **wishes), stays=stays)


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
    return roadmap.parent / ".milepost" / ERROR_FILE


def error_of(roadmap: Path, run: str) -> str:
    """Why a detached run that started did not finish; empty if unknown."""
    try:
        result = DetachedStart.model_validate_json(error_file(roadmap).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return f"{result.reason}: {result.advice}" if result.run == run else ""
