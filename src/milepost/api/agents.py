"""Who does the work: agents by their names, and the patterns that need no model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.given import folder_of, path_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from milepost.agents.patterns.trial import PatternEntry, PatternTrial
    from milepost.core.ports import Agent


def agent(name: str, folder: Path | str | None = None) -> Agent:
    """The agent of a name, as `--agent` takes it; relative paths in it start from `folder`, the roadmap's."""
    from milepost.engine.agents.factory import make_agent
    from milepost.engine.project.settings import load

    place = path_of(folder) or Path.cwd()
    return make_agent(name, load(place), place)


def patterns(folder: Path | str | None = None) -> tuple[PatternEntry, ...]:
    """The patterns that are known in a folder: those that ship, the project's own, those of installed packages."""
    from milepost.engine.agents.patterns import listed

    return listed((folder_of(folder) or Path.cwd()).absolute())


def pattern(name: str, folder: Path | str | None = None) -> PatternEntry:
    """One pattern of a folder, with what it takes."""
    from milepost.engine.agents.patterns import entry_named

    return entry_named(name, (folder_of(folder) or Path.cwd()).absolute())


def try_pattern(
    name: str, inputs: Mapping[str, str], *, write: bool = False, folder: Path | str | None = None
) -> PatternTrial:
    """What a pattern would change in a folder, as a diff; with `write` it is changed."""
    from milepost.engine.agents.patterns import try_out

    return try_out(name, inputs, (folder_of(folder) or Path.cwd()).absolute(), write=write)
