"""Converts the arguments of the library's calls into the values that the engine takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from milepost.core.events import Event
    from milepost.core.ports import Agent
    from milepost.core.verdict import CheckResult
    from milepost.engine.records.run_view import RunRef

    OnEvent = Callable[[Event], None]
    OnCheck = Callable[[CheckResult], None]


def path_of(path: Path | str | None) -> Path | None:
    """An optional path."""
    return Path(path) if path is not None else None


def folder_of(path: Path | str | None) -> Path | None:
    """An optional folder as an absolute path; raises Misuse if it does not exist."""
    from milepost.core.errors import Misuse

    if path is not None and not Path(path).is_dir():
        raise Misuse(f"there is no folder {str(path)!r}", "create it, or name another folder")
    return None if path is None else Path(path).absolute()


def whose(roadmap: Path | str | None, run: str | None, database: str | None) -> RunRef:
    """Selects a run: the newest one of the roadmap, or the one that is named."""
    from milepost.engine.records.run_view import RunRef

    return RunRef(roadmap=path_of(roadmap), run=run, server=database)


def agents_in(agent: str | Agent | None) -> dict[str, Agent]:
    """An agent object under the name that the run records for it; empty if the agent was given by name."""
    return {} if agent is None or isinstance(agent, str) else {f"object:{type(agent).__name__}": agent}


def name_of(agent: str | Agent | None) -> str | None:
    """The name that the run records for an agent."""
    return agent if agent is None or isinstance(agent, str) else next(iter(agents_in(agent)))


def ignore(_: object) -> None:
    """The callback of a caller who passed none."""
