"""The patterns there are: those that ship, those of the project's folders, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from milepost.agents.patterns import folder_pattern
from milepost.agents.patterns.add_dependency import AddDependency
from milepost.agents.patterns.bump_version import BumpVersion
from milepost.agents.patterns.new_config.pattern import ConfigSetup
from milepost.agents.patterns.new_module.pattern import ModuleCreation
from milepost.agents.patterns.pattern import Pattern
from milepost.agents.patterns.rename.pattern import RenameSymbol
from milepost.agents.patterns.run_command import RunCommand
from milepost.agents.patterns.status.automation_status import AutomationStatus
from milepost.agents.patterns.status.implementation_status import ImplementationStatus, ReadRoadmap, StubsOf
from milepost.core.errors import AgentUnknown, MilepostError, SettingInvalid

GROUP = "milepost.patterns"
OWN_FOLDER = Path(".milepost/patterns")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSetup:
    """Where patterns are looked for beside `.milepost/patterns`, and what those that ship are given by other rooms.

    Relative folders start from the roadmap's.
    """

    folders: tuple[Path, ...] = ()
    read_roadmap: ReadRoadmap | None = None
    stubs_of: StubsOf | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPattern:
    """A pattern that is there by its name, where it comes from, and how it is had; `load` raises when it is broken."""

    name: str
    origin: str
    load: Callable[[], Pattern]


def known_patterns(folder: Path | None = None, setup: PatternSetup | None = None) -> tuple[KnownPattern, ...]:
    """Every pattern that `folder`, the roadmap's, knows: those that ship first."""
    setup = setup or PatternSetup()
    return (*_built_in(setup), *_of_folders(folder, setup.folders), *_installed())


def pattern_named(name: str, folder: Path | None = None, setup: PatternSetup | None = None) -> Pattern:
    """The pattern of that name; AgentUnknown with the names there are, SettingInvalid where it has two meanings."""
    known = known_patterns(folder, setup)
    found = [each for each in known if each.name == name]
    if not found:
        names = ", ".join(dict.fromkeys(each.name for each in known))
        raise AgentUnknown(f"there is no pattern {name!r}", f"the patterns are: {names}")
    if len(found) > 1:
        origins = ", ".join(each.origin for each in found)
        raise SettingInvalid(f"the pattern {name!r} is there more than once: {origins}", "rename one of them")
    return found[0].load()


def _built_in(setup: PatternSetup) -> Iterator[KnownPattern]:
    patterns: tuple[Pattern, ...] = (
        ModuleCreation(),
        ConfigSetup(),
        AutomationStatus(),
        ImplementationStatus(read_roadmap=setup.read_roadmap, stubs_of=setup.stubs_of),
        RenameSymbol(),
        AddDependency(),
        BumpVersion(),
        RunCommand(),
    )
    for pattern in patterns:
        yield KnownPattern(name=pattern.name, origin="built in", load=partial(_same, pattern))


def _same(pattern: Pattern) -> Pattern:
    return pattern


def _of_folders(folder: Path | None, folders: Iterable[Path]) -> Iterator[KnownPattern]:
    if folder is None:
        return
    for named in folders:
        if not (folder / named).is_dir():
            raise SettingInvalid(f"there is no folder {str(named)!r} with patterns", "correct folders of [patterns]")
    for place in (folder / OWN_FOLDER, *(folder / each for each in folders)):
        below = place.iterdir() if place.is_dir() else ()
        for each in sorted(each for each in below if each.is_dir() and not each.name.startswith(".")):
            yield KnownPattern(name=each.name, origin=str(each), load=partial(folder_pattern.load, each))


def _installed() -> Iterator[KnownPattern]:
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        yield KnownPattern(name=entry.name, origin=f"entry point {entry.value}", load=partial(_loaded, entry))


def _loaded(entry: EntryPoint) -> Pattern:
    """The pattern that an entry point names: an object, or a class that is made without arguments."""
    try:
        found = entry.load()
        pattern: Pattern = found() if isinstance(found, type) else found
        lacking = [name for name in ("name", "schema", "validate_inputs", "execute") if not hasattr(pattern, name)]
    except MilepostError:
        raise
    except Exception as error:  # the code of another package, run for the first time
        raise SettingInvalid(
            f"the pattern {entry.name!r} cannot be loaded: {type(error).__name__}: {error}",
            f"correct {entry.value}, or remove its package",
        ) from error
    if lacking:
        raise SettingInvalid(
            f"{entry.name!r} is not a pattern: it lacks {', '.join(lacking)}", f"correct {entry.value}"
        )
    return pattern
