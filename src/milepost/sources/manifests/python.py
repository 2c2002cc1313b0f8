"""pyproject.toml, requirements files and locks of Python: a project, a workspace, and the packages that they name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Literal

from milepost.sources.manifests.project import Manifest, Read
from milepost.sources.parse_documents import json_of, string, strings, table, tables, toml_of

Group = Literal["project", "extra", "group", "uv", "pdm", "build"]

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
_REQUIREMENT = re.compile(rf"{_NAME.pattern}\s*(\[[^\]]*\])?\s*([^#]*)")
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)$")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")


def normalised(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


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


def read_pyproject(content: str) -> Manifest:
    """What a pyproject.toml says: PEP 621 and dependency groups, workspaces of uv, and poetry's own tables."""
    whole = tomllib.loads(content)
    workspace = table(whole, "tool", "uv", "workspace")
    sources = dict(_sources(table(whole, "tool", "uv", "sources")))
    poetry = _poetry_tables(whole)
    lines = (line for group, line in requirements(whole) if group not in ("pdm", "build"))
    stated = [*(found[1] for line in lines if (found := _NAME.match(line))), *(name for one in poetry for name in one)]
    return Manifest(
        kind="python",
        name=string(table(whole, "project").get("name")) or string(table(whole, "tool", "poetry").get("name")),
        members=strings(workspace.get("members")),
        left_out=strings(workspace.get("exclude")),
        needs=tuple(dict.fromkeys(normalised(name) for name in (*stated, *sources) if name)),
        paths=tuple(
            path for one in (sources, *poetry) for value in one.values() if (path := string(table(value).get("path")))
        ),
    )


def requirements(whole: Mapping[str, Any]) -> Iterator[tuple[Group, str]]:
    """The requirements of a pyproject.toml with the kind of list that each is in; those in poetry's tables are not."""
    lists: tuple[tuple[Group, Any], ...] = (
        ("project", table(whole, "project").get("dependencies")),
        ("build", table(whole, "build-system").get("requires")),
        *(("extra", one) for one in table(whole, "project", "optional-dependencies").values()),
        *(("group", one) for one in table(whole, "dependency-groups").values()),
        ("uv", table(whole, "tool", "uv").get("dev-dependencies")),
        *(("pdm", one) for one in table(whole, "tool", "pdm", "dev-dependencies").values()),
    )
    return ((group, line) for group, listed in lists for line in strings(listed))


def declared(paths: tuple[str, ...], read: Read) -> dict[str, str]:
    """The requirement of each package that any group or lock names, by its normalised name.

    A package that only a lock names is required without a version: the lock goes on to say which.
    """
    found: dict[str, str] = {}
    for path in paths:
        for requirement in requirements_of(path, read):
            name = requirement_name(requirement)
            if name and (normalised(name) not in found or found[normalised(name)] == name):
                found[normalised(name)] = requirement
    return found


def requirements_of(path: str, read: Read) -> list[str]:
    """The requirements that one file names, whatever group they are in; none when it is no manifest."""
    pure = PurePosixPath(path)
    if pure.name == "pyproject.toml":
        whole = toml_of(read(path))
        poetry = (name for one in _poetry_tables(whole) for name in one if name != "python")
        return [*(line for _, line in requirements(whole)), *poetry]
    if pure.name in _LOCKS:
        whole = toml_of(read(path))
        return [str(one["name"]) for one in tables(whole.get("package", whole.get("packages"))) if "name" in one]
    if pure.name == "Pipfile":
        whole = toml_of(read(path))
        return [entry for group in ("packages", "dev-packages") for entry in table(whole, group)]
    if pure.name == "Pipfile.lock":
        whole = json_of(read(path))
        return [entry for group in ("default", "develop") for entry in table(whole, group)]
    if _REQUIREMENTS.fullmatch(pure.name) or (pure.suffix in (".txt", ".in") and "requirements" in pure.parts):
        return list(_lines(read(path)))
    return []


def _poetry_tables(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    poetry = table(whole, "tool", "poetry")
    groups = (table(group, "dependencies") for group in table(poetry, "group").values())
    return [table(poetry, "dependencies"), table(poetry, "dev-dependencies"), *groups]


def _sources(sources: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where uv takes packages from that are no registry's: the workspace, or a path."""
    for name, given in sources.items():
        for one in given if isinstance(given, list) else [given]:
            if table(one).get("workspace") is True or "path" in table(one):
                yield name, table(one)


def _lines(content: bytes | None) -> Iterator[str]:
    text = (content or b"").decode("utf-8-sig", "replace")
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        plain = re.split(r"\s#|\s--hash=|\s--", line.strip(), maxsplit=1)[0].strip()
        if plain and not plain.startswith(("#", "-")):
            yield plain
