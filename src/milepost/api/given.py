"""What callers of the library give, as the engine takes it."""

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
    """A path that may be left out."""
    return Path(path) if path is not None else None


def folder_of(path: Path | str | None) -> Path | None:
    """A folder that is to be worked in, which must be there."""
    from milepost.core.errors import Misuse

    if path is not None and not Path(path).is_dir():
        raise Misuse(f"there is no folder {str(path)!r}", "create it, or name another folder")
    return None if path is None else Path(path).absolute()


def whose(roadmap: Path | str | None, run: str | None, database: str | None) -> RunRef:
    """The run that is looked at."""
    from milepost.engine.records.run_view import RunRef

    return RunRef(roadmap=path_of(roadmap), run=run, server=database)


def agents_in(agent: str | Agent | None) -> dict[str, Agent]:
    """The agent that is an object, under the name that a run has for it; none where it is a name."""
    return {} if agent is None or isinstance(agent, str) else {f"object:{type(agent).__name__}": agent}


def name_of(agent: str | Agent | None) -> str | None:
    """What a run calls an agent."""
    return agent if agent is None or isinstance(agent, str) else next(iter(agents_in(agent)))


def unheard(_: object) -> None:
    """What hears for a caller who does not."""
