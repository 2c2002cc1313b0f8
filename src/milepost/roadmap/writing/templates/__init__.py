"""Roadmaps to begin with, which need no model: one file each, with places that are filled from the project."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from milepost.core.errors import Misuse
from milepost.roadmap.prose.answers import NewRoadmap

PLACES = ("name", "package", "test", "test_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What a template is called and about; `roadmap` has its places still open."""

    name: str
    about: str
    roadmap: NewRoadmap

    def filled(self, places: Mapping[str, str]) -> NewRoadmap:
        """The roadmap with its places filled."""
        return NewRoadmap.model_validate(_filled(self.roadmap.model_dump(), places))


def template_names() -> tuple[str, ...]:
    """The templates that there are."""
    names = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def template_named(name: str) -> Template:
    """The template of this name."""
    if name not in template_names():
        raise Misuse(f"there is no template {name!r}", f"the templates are {', '.join(template_names())}")
    table = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return Template(name=name, about=table["about"], roadmap=NewRoadmap.model_validate(table["roadmap"]))


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    match value:
        case str():
            for place in PLACES:
                value = value.replace(f"{{{place}}}", places[place])
            return value
        case list():
            return [_filled(one, places) for one in value]
        case dict():
            return {key: _filled(one, places) for key, one in value.items()}
        case _:
            return value
