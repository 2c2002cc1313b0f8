"""The templates of the variables that an attempt has to itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PORTS = 10

_PLACE = re.compile(r"\{([a-z_0-9]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What one attempt or verification has for itself alone: a number, the smallest that is free, and ports."""

    number: int
    ports: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """The settings of [surroundings]: texts in which `{slot}`, `{port}` and the like are filled in."""

    database_name: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its places filled in; what names no place stays as it is."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), template)


def unknown_places(template: str) -> tuple[str, ...]:
    """The places in a template that nothing could fill."""
    known = {*_values(Slot(number=0, ports=tuple(range(PORTS)))), "database_name"}
    return tuple(name for name in _PLACE.findall(template) if name not in known)


def _values(slot: Slot) -> dict[str, str]:
    ports = {f"port_{number}": str(port) for number, port in enumerate(slot.ports)}
    return {"slot": str(slot.number), "port": str(slot.ports[0]), **ports}
