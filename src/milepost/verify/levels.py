"""How far verification goes: levels, each with those below it, and modes."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from milepost.core.errors import SettingInvalid


class Level(IntEnum):
    """What is asked of a result, from the cheapest question to the dearest."""

    FILES = 0
    SYNTAX = 1
    IMPORTS = 2
    RUNTIME = 3
    TESTS = 4
    TYPES = 5

    @property
    def word(self) -> str:
        return self.name.lower()


class Mode(StrEnum):
    """Who is asked: the checks, a further opinion beside them, nobody, or the project's tests by pytest alone."""

    AUTO = "auto"
    AGENT = "agent"
    SKIP = "skip"
    PYTEST = "pytest"


# A check that is not here reads the change alone and starts nothing: it belongs to the lowest level.
LEVELS = {
    "syntax": Level.SYNTAX,
    "imports": Level.IMPORTS,
    "runtime": Level.RUNTIME,
    "tests": Level.TESTS,
    "coverage": Level.TESTS,
    "types": Level.TYPES,
    "lint": Level.TYPES,
}
AUTHORS_OWN = "verify"


def level_named(name: str) -> Level:
    """The level of this name."""
    try:
        return Level[name.upper()]
    except KeyError:
        names = ", ".join(level.word for level in Level)
        raise SettingInvalid(f"there is no verification level {name!r}", f"the levels are {names}") from None


def mode_named(name: str) -> Mode:
    """The mode of this name."""
    try:
        return Mode(name)
    except ValueError:
        names = ", ".join(mode.value for mode in Mode)
        raise SettingInvalid(f"there is no verification mode {name!r}", f"the modes are {names}") from None


def level_of(check: str) -> Level:
    """The level that a check of this name belongs to."""
    return LEVELS.get(check, Level.FILES)


def is_asked(check: str, level: Level, mode: Mode) -> bool:
    """Whether a check of this name is run. A task's own `Verify:` line is left out only when everything is."""
    if mode is Mode.SKIP:
        return False
    if check == AUTHORS_OWN:
        return True
    if mode is Mode.PYTEST:
        return level_of(check) is Level.FILES or check in ("tests", "coverage")
    return level_of(check) <= level
