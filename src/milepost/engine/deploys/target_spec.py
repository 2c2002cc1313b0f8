"""What is known of a target: its section of milepost.toml, for one environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from milepost.core.errors import Misuse, TargetUnknown
from milepost.core.shipping import TargetSpec
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.settings.targets import Environment, TargetSection

LOCAL = "local"
ENVIRONMENTS: tuple[str, ...] = get_args(Environment)


def spec_named(folder: Path, name: str, environment: str) -> TargetSpec:
    """The target of this name by the settings of a folder; raises where they want what nobody agreed to."""
    if environment not in ENVIRONMENTS:
        raise Misuse(f"there is no environment {environment!r}", f"it is one of {', '.join(ENVIRONMENTS)}")
    settings = load(folder, uses=(f"targets.{name}",))
    return spec_of(settings, name, environment, application=folder.name)


def names_of(settings: Settings) -> Sequence[str]:
    """All targets; `local` is one without a section, too."""
    return sorted({LOCAL, *settings.targets})


def spec_of(settings: Settings, name: str, environment: str, *, application: str) -> TargetSpec:
    """What the settings say of a target; what they say of the environment comes first."""
    if name not in names_of(settings):
        known = ", ".join(names_of(settings))
        raise TargetUnknown(f"there is no target {name!r}", f"there are {known}; [targets.{name}] adds it")
    section = settings.targets.get(name, TargetSection())
    own = getattr(section, environment)

    def said(key: str, otherwise: Any) -> Any:
        here, above = getattr(own, key), getattr(section, key)
        return here if here is not None else above if above is not None else otherwise

    def both(key: str) -> tuple[tuple[str, str], ...]:
        return tuple(sorted({**(getattr(section, key) or {}), **(getattr(own, key) or {})}.items()))

    instances = said("instances", [1])
    return TargetSpec(
        name=name,
        kind=section.kind,
        environment=environment,
        application=said("application", application),
        region=said("region", ""),
        domain=said("domain", ""),
        command=tuple(said("command", [])),
        health_path=said("health_path", "/"),
        instances=(instances[0], instances[-1]),
        variables=both("variables"),
        secrets=both("secrets"),
        port=said("port", 0),
        start_timeout_s=said("start_timeout_s", 60.0),
        soak_s=said("soak_s", 30.0),
        approve=said("approve", environment == "prod"),
        options=both("options"),
    )
