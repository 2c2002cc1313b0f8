"""What the manifest of a Python project declares, wherever it is written."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.sandbox.read_plain import LARGEST_SETTINGS, plain_text, read_plain
from milepost.sources.parse_documents import at, strings, table
from milepost.verify.environments.poetry import from_poetry
from milepost.verify.environments.python_project import (
    Declared,
    entry_points_of,
    expanded,
    groups_for_testing,
    once,
    strings_or_one,
)
from milepost.verify.environments.setup_files import from_setup

_PURE_BACKENDS = ("setuptools", "hatchling", "flit", "poetry", "pdm", "uv_build")


def declared_in(folder: Path, extras: tuple[str, ...] = ()) -> Declared:
    """What the files in a folder declare; `extras` are asked for beside those that are for testing."""
    whole = _toml(folder / "pyproject.toml")
    if whole is None:
        return Declared(notes=("pyproject.toml is not valid TOML",))
    if isinstance(whole.get("project"), dict):
        return _from_project(whole, folder, extras)
    if isinstance(at(whole, "tool", "poetry"), dict):
        return from_poetry(whole, extras)
    bare = groups_for_testing(whole)
    legacy = from_setup(folder, extras)
    return replace(legacy, requirements=once((*legacy.requirements, *bare)))


def _from_project(whole: Mapping[str, Any], folder: Path, extras: tuple[str, ...]) -> Declared:
    project = whole["project"]
    optional = {str(name): strings(value) for name, value in table(project.get("optional-dependencies")).items()}
    dynamic = strings(project.get("dynamic"))
    requirements = strings(project.get("dependencies"))
    notes: list[str] = []
    if "dependencies" in dynamic:
        files = strings_or_one(at(whole, "tool", "setuptools", "dynamic", "dependencies", "file"))
        requirements += tuple(line for file in files for line in _requirement_lines(folder / file))
        if not files:
            legacy = from_setup(folder, extras)
            requirements += legacy.requirements
            notes.extend(
                legacy.notes or () if legacy.requirements else ("its dependencies are only known to its build",)
            )
    name = str(project.get("name", ""))
    scripts = {"console_scripts": project.get("scripts"), "gui_scripts": project.get("gui-scripts")}
    groups = scripts | table(project.get("entry-points"))
    return Declared(
        name=name,
        version=str(project.get("version", "")),
        requirements=once((*requirements, *expanded(name, optional, extras), *groups_for_testing(whole))),
        extras=optional,
        groups=tuple(table(whole, "dependency-groups")),
        entry_points=entry_points_of(groups),
        is_package="build-system" in whole or any(groups.values()),
        source=_source(whole),
        notes=(*notes, *_about_backend(whole)),
    )


def _about_backend(whole: Mapping[str, Any]) -> tuple[str, ...]:
    backend = str(at(whole, "build-system", "build-backend") or "setuptools")
    if backend.startswith(_PURE_BACKENDS):
        return ()
    return (f"it is built by {backend}: its compiled parts are missing",)


def _source(whole: Mapping[str, Any]) -> str:
    """The folder a package is imported from, where it is said; else a `src` folder speaks for itself."""
    named = table(whole, "tool", "setuptools", "package-dir").get("")
    where = at(whole, "tool", "setuptools", "packages", "find", "where")
    return str(named) if named else next(iter(strings(where)), "")


def _requirement_lines(path: Path) -> list[str]:
    try:
        lines = plain_text(path).splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith(("#", "-"))]


def _toml(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(read_plain(path, LARGEST_SETTINGS).decode())
    except OSError:
        return {}
    except (ValueError, RecursionError):
        return None
