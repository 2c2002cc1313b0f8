"""What a project's manifests and lock files declare, read from their bytes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from milepost.repair.packages import ANY_VERSION, normalised

Read = Callable[[str], bytes | None]

_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)$")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*([^#]*)")
_PYTHON_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_NODE_GROUPS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_CARGO_GROUPS = ("dependencies", "dev-dependencies", "build-dependencies")


def python_declared(paths: tuple[str, ...], read: Read) -> dict[str, str]:
    """The requirement of each Python package that any group or lock names, by its normalised name.

    A package that only a lock names is required without a version: the lock goes on to say which.
    """
    found: dict[str, str] = {}
    for path in paths:
        for requirement in python_requirements(path, read):
            name = requirement_name(requirement)
            if name and (normalised(name) not in found or found[normalised(name)] == name):
                found[normalised(name)] = requirement
    return found


def python_requirements(path: str, read: Read) -> list[str]:
    """The requirements that one file names, whatever group they are in; none when it is no manifest."""
    name = PurePosixPath(path).name
    if name == "pyproject.toml":
        return list(_pyproject(_toml(read(path))))
    if name in _PYTHON_LOCKS:
        return [str(one["name"]) for one in _tables(_toml(read(path)), "package", "packages") if "name" in one]
    if name == "Pipfile":
        table = _toml(read(path))
        return [entry for group in ("packages", "dev-packages") for entry in _mapping(table.get(group))]
    if name == "Pipfile.lock":
        locked = _json(read(path))
        return [entry for group in ("default", "develop") for entry in _mapping(locked.get(group))]
    if _REQUIREMENTS.fullmatch(name) or (
        name.endswith((".txt", ".in")) and "requirements" in PurePosixPath(path).parts
    ):
        return list(_requirement_lines(read(path)))
    return []


def requirement_name(requirement: str) -> str:
    """The package that a requirement is about, empty for a path or an address."""
    match = _REQUIREMENT.match(requirement)
    if (
        match is None
        or (match[3] and match[3][0] in "/:\\")
        or "://" in requirement.partition(";")[0].partition("@")[0]
    ):
        return ""
    return match[1]


def node_declared(paths: tuple[str, ...], read: Read) -> dict[str, str]:
    """The version that each package.json or package-lock.json asks of a package, that of a manifest before a lock's."""
    found: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: PurePosixPath(path).name != "package.json"):
        for name, version in node_dependencies(path, read).items():
            found.setdefault(name, version)
    return found


def node_dependencies(path: str, read: Read) -> dict[str, str]:
    """The packages of one package.json or package-lock.json, with a version that suits it."""
    name = PurePosixPath(path).name
    if name == "package.json":
        table = _json(read(path))
        groups = [_mapping(table.get(group)) for group in _NODE_GROUPS]
        return {entry: version for group in groups for entry, version in group.items() if isinstance(version, str)}
    if name in ("package-lock.json", "npm-shrinkwrap.json"):
        locked = _mapping(_json(read(path)).get("packages"))
        inside = {key.rpartition("node_modules/")[2]: value for key, value in locked.items() if "node_modules/" in key}
        versions = {entry: _mapping(value).get("version") for entry, value in inside.items()}
        return {entry: f"^{version}" for entry, version in versions.items() if isinstance(version, str)}
    return {}


def node_workspaces(paths: tuple[str, ...], read: Read) -> frozenset[str]:
    """The names of the project's own JavaScript packages."""
    manifests = [path for path in paths if PurePosixPath(path).name == "package.json"]
    names = (_json(read(path)).get("name") for path in manifests)
    return frozenset(name for name in names if isinstance(name, str))


def cargo_declared(paths: tuple[str, ...], read: Read) -> dict[str, str]:
    """The version that each Cargo.toml or Cargo.lock asks of a crate, that of a manifest before a lock's."""
    found: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: PurePosixPath(path).name != "Cargo.toml"):
        for name, version in cargo_dependencies(path, read).items():
            found.setdefault(name, version)
    return found


def cargo_dependencies(path: str, read: Read) -> dict[str, str]:
    name = PurePosixPath(path).name
    if name == "Cargo.lock":
        return {str(one.get("name")): str(one.get("version")) for one in _tables(_toml(read(path)), "package")}
    if name != "Cargo.toml":
        return {}
    table = _toml(read(path))
    groups = [_mapping(table.get(group)) for group in _CARGO_GROUPS]
    groups.append(_mapping(_mapping(table.get("workspace")).get("dependencies")))
    return {entry: _cargo_version(value) for group in groups for entry, value in group.items()}


def _cargo_version(value: object) -> str:
    version = value if isinstance(value, str) else _mapping(value).get("version")
    return version if isinstance(version, str) else ANY_VERSION


def _pyproject(table: Mapping[str, Any]) -> Iterator[str]:
    project, tool = _mapping(table.get("project")), _mapping(table.get("tool"))
    yield from _strings(project.get("dependencies"))
    yield from _strings(_mapping(table.get("build-system")).get("requires"))
    for group in _mapping(project.get("optional-dependencies")).values():
        yield from _strings(group)
    for group in _mapping(table.get("dependency-groups")).values():
        yield from _strings(group)
    yield from _strings(_mapping(tool.get("uv")).get("dev-dependencies"))
    for group in _mapping(_mapping(tool.get("pdm")).get("dev-dependencies")).values():
        yield from _strings(group)
    poetry = _mapping(tool.get("poetry"))
    groups = [_mapping(each).get("dependencies") for each in _mapping(poetry.get("group")).values()]
    for named in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups):
        yield from (name for name in _mapping(named) if name != "python")


def _requirement_lines(content: bytes | None) -> Iterator[str]:
    text = (content or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        plain = re.split(r"\s#|\s--hash=|\s--", line.strip(), maxsplit=1)[0].strip()
        if plain and not plain.startswith(("#", "-")):
            yield plain


def _toml(content: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads((content or b"").decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _json(content: bytes | None) -> dict[str, Any]:
    try:
        return _mapping(json.loads((content or b"{}").decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _tables(table: Mapping[str, Any], *keys: str) -> list[dict[str, Any]]:
    found: list[Any] = next((table[key] for key in keys if isinstance(table.get(key), list)), [])
    return [_mapping(entry) for entry in found]
