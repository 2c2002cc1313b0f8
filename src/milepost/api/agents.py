"""Agents by their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from milepost.core.ports import Agent


def agent(name: str, folder: Path | str | None = None) -> Agent:
    """The agent with this name, as `--agent` takes it; relative paths in it start from `folder`, the roadmap's."""
    from milepost.engine.agents.factory import make_agent
    from milepost.engine.project.settings.load import EVERYTHING, load

    place = path_of(folder) or Path.cwd()
    return make_agent(name, load(place, uses=EVERYTHING), place)
