"""What a setting can reach: every one is marked as safe, or with what it does that a person must agree to.

A mark stands beside the documentation of its setting; without one a section cannot be defined. What is safe takes
effect wherever it was written; the rest, as it came with a repository, only where somebody agreed to this very value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from milepost.agents.outside_names import reaches_outside


@dataclass(frozen=True, slots=True)
class Safe:
    """A setting that reaches no key, no host, no file outside the repository, and weakens no wall."""


@dataclass(frozen=True, slots=True)
class Asks:
    """A setting that takes effect only where a person agreed; `does` completes "this …".

    Values that `unless` holds for need nobody's word, as the default does: they only tighten.
    """

    does: str
    unless: Callable[[Any], bool] = lambda _: False


SAFE = Safe()
Reach = Safe | Asks


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """A value that takes effect only where a person agreed to it; `path` is where it stands in its file."""

    path: tuple[str, ...]
    value: Any
    does: str

    @property
    def key(self) -> str:
        """Its name as people write it, such as `sandbox.network`."""
        return ".".join(self.path)


def reach_of(setting: FieldInfo) -> Reach | None:
    """The mark of a setting; None where it has none."""
    return next((mark for mark in setting.metadata if isinstance(mark, Safe | Asks)), None)


def reaching(section: BaseModel, above: tuple[str, ...] = ()) -> Iterator[Reaching]:
    """The values of a section, and of all below it, that a person must agree to."""
    for name, setting in type(section).model_fields.items():
        path, value = (*above, setting.alias or name), getattr(section, name)
        if isinstance(value, BaseModel):
            yield from reaching(value, path)
        elif isinstance(value, Mapping) and reach_of(setting) is None:
            for part, below in value.items():
                yield from reaching(below, (*path, part))
        elif isinstance(mark := reach_of(setting), Asks) and value != setting.default and not mark.unless(value):
            yield Reaching(path=path, value=value, does=mark.does)


def at_most(most: float) -> Callable[[Any], bool]:
    """Holds for numbers that are no larger: a lower limit only tightens."""
    return lambda value: value is not None and value <= most


def one_of(*values: object) -> Callable[[Any], bool]:
    return lambda value: value in values


def is_below(value: Any) -> bool:
    """Whether paths, in a text or a list, stay below the folder of the settings."""
    paths = [PurePosixPath(path) for path in ([value] if isinstance(value, str) else value)]
    return not any(path.is_absolute() or ".." in path.parts or str(path).startswith("~") for path in paths)


def stays_inside(value: Any) -> bool:
    """Whether names of agents, in a text, a list or a table, name no path outside of the repository."""
    names = value.values() if isinstance(value, Mapping) else [value] if isinstance(value, str) else value
    return not any(map(reaches_outside, names))


AGENT_NAMES = Asks(
    "lets the agent read the paths outside the repository that it names",
    unless=stays_inside,
)
