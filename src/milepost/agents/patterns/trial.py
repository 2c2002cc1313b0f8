"""Patterns by hand: what there is, and what one would do to a folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.agent import execute
from milepost.agents.patterns.pattern import Pattern, about
from milepost.agents.patterns.pending_changes import Commands, PendingChanges
from milepost.agents.patterns.registry import KnownPattern, PatternSetup, known_patterns
from milepost.core.errors import MilepostError


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternEntry:
    """A pattern as it is listed; `problem` is why it cannot be used."""

    name: str
    origin: str
    about: str = ""
    schema: Schema = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternTrial:
    """What a pattern changed, or would change: `diff` shows it, `written` are the files if it was to write them.

    `commands` are those that were run, or would be; what they change by themselves is in neither.
    """

    pattern: str
    diff: str
    remarks: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def entries(folder: Path, setup: PatternSetup) -> tuple[PatternEntry, ...]:
    """Every pattern that is known in a folder, also those that cannot be used."""
    return tuple(map(_entry, known_patterns(folder, setup)))


def tried(
    pattern: Pattern, inputs: Mapping[str, str], folder: Path, commands: Commands, *, write: bool
) -> PatternTrial:
    """Show what a pattern would do to a folder; with `write` do it."""
    shown = site = PendingChanges(folder, commands, dry=True)
    execute(pattern, inputs, shown)
    if write:
        site = PendingChanges(folder, commands)
        execute(pattern, inputs, site)
    return PatternTrial(
        pattern=pattern.name,
        diff=shown.diff(),
        remarks=tuple(site.remarks),
        written=tuple(site.written),
        commands=tuple(map(shlex.join, site.commands)),
    )


def _entry(known: KnownPattern) -> PatternEntry:
    try:
        pattern = known.load()
        return PatternEntry(name=known.name, origin=known.origin, about=about(pattern), schema=pattern.schema)
    except MilepostError as error:
        return PatternEntry(name=known.name, origin=known.origin, problem=error.message)
    except Exception as error:  # the code of another package
        return PatternEntry(name=known.name, origin=known.origin, problem=f"{type(error).__name__}: {error}")
