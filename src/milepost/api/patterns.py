"""Patterns: changes that an agent makes without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import folder_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from milepost.agents.patterns.trial import PatternEntry, PatternTrial


def available(folder: Path | str | None = None) -> tuple[PatternEntry, ...]:
    """All patterns of a folder: the built-in ones, the project's own, those of installed packages."""
    from milepost.engine.agents.patterns import listed

    return listed((folder_of(folder) or Path.cwd()).absolute())


def find(name: str, folder: Path | str | None = None) -> PatternEntry:
    """One pattern with its inputs."""
    from milepost.engine.agents.patterns import entry_named

    return entry_named(name, (folder_of(folder) or Path.cwd()).absolute())


def try_out(
    name: str, inputs: Mapping[str, str], *, write: bool = False, folder: Path | str | None = None
) -> PatternTrial:
    """The diff that a pattern would make in a folder; `write` applies it."""
    from milepost.engine.agents.patterns import try_out as apply

    return apply(name, inputs, (folder_of(folder) or Path.cwd()).absolute(), write=write)
