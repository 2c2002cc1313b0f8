"""The patterns of a project: what they are given by other rooms, and one of them tried by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.patterns.registry import PatternSetup, pattern_named
from milepost.agents.patterns.trial import PatternEntry, PatternTrial, entries, tried
from milepost.core.commands import CommandResult
from milepost.core.errors import RoadmapMissing
from milepost.engine.project.project import find_roadmap
from milepost.engine.project.settings.load import PATTERNS, load
from milepost.engine.terminals.one_command import CommandRequest, run_by_hand


def pattern_setup(folders: tuple[str, ...] = ()) -> PatternSetup:
    """What patterns need of other rooms, and the folders that the settings name."""
    from milepost.roadmap import read
    from milepost.verify.checks.stubs import stubs_of

    return PatternSetup(folders=tuple(map(Path, folders)), read_roadmap=read, stubs_of=stubs_of)


def listed(folder: Path) -> tuple[PatternEntry, ...]:
    """The patterns that are known in a folder."""
    home = _home_of(folder)
    return entries(home, _setup_of(home))


def entry_named(name: str, folder: Path) -> PatternEntry:
    """One pattern of a folder; AgentUnknown with the names there are."""
    found = [entry for entry in listed(folder) if entry.name == name]
    if not found:
        home = _home_of(folder)
        pattern_named(name, home, _setup_of(home))
    return found[0]


def try_out(name: str, inputs: Mapping[str, str], folder: Path, *, write: bool) -> PatternTrial:
    """Show what a pattern would do to a folder; with `write` do it."""
    home = _home_of(folder)
    pattern = pattern_named(name, home, _setup_of(home))
    return tried(pattern, inputs, folder, HandCommands(folder), write=write)


@dataclass(frozen=True, slots=True)
class HandCommands:
    """The commands of a pattern that a person tries: in the sandbox, under the policy of the folder."""

    folder: Path

    def ask(self, argv: tuple[str, ...]) -> CommandResult:
        return self.run(argv, None)

    def run(self, argv: tuple[str, ...], timeout_s: float | None) -> CommandResult:
        wish = CommandRequest(argv=argv, folder=self.folder, timeout_s=timeout_s)
        done = run_by_hand(wish, lambda _: None, lambda _: False)
        assert done.result is not None
        return done.result


def _setup_of(home: Path) -> PatternSetup:
    return pattern_setup(tuple(load(home, uses=PATTERNS).patterns.folders))


def _home_of(folder: Path) -> Path:
    try:
        return find_roadmap(start=folder).parent
    except RoadmapMissing:
        return folder
