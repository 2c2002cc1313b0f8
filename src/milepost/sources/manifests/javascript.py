"""package.json, package-lock.json, pnpm-workspace.yaml, lerna.json: a package, a workspace, and what they name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from milepost.sources.manifests.project import Manifest, Read, versions
from milepost.sources.parse_documents import json_of, string, strings, table

GROUPS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_PATHS = ("file:", "link:", "portal:")


def read_package(content: str) -> Manifest:
    """What a package.json says."""
    package = table(json.loads(content))
    needed = {name: string(value) for group in GROUPS for name, value in table(package, group).items()}
    paths = [value.removeprefix(lead) for value in needed.values() for lead in _PATHS if value.startswith(lead)]
    members, left_out = _split(workspace_patterns(package))
    return Manifest(
        kind="javascript",
        name=string(package.get("name")),
        members=members,
        left_out=left_out,
        needs=tuple(_real_name(name, value) for name, value in needed.items()),
        paths=tuple(path for path in paths if not path.endswith((".tgz", ".tar.gz"))),
    )


def read_pnpm(content: str) -> Manifest:
    """What a pnpm-workspace.yaml says."""
    import yaml  # type: ignore[import-untyped]

    try:
        whole = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from error
    members, left_out = _split(strings(table(whole).get("packages")))
    return Manifest(kind="javascript", members=members, left_out=left_out)


def read_lerna(content: str) -> Manifest:
    """What a lerna.json says."""
    members, left_out = _split(strings(table(json.loads(content)).get("packages")))
    return Manifest(kind="javascript", members=members, left_out=left_out)


def workspace_patterns(package: dict[str, Any]) -> tuple[str, ...]:
    """The workspaces of a package.json: a list, or a table with one."""
    given = package.get("workspaces")
    return strings(given.get("packages") if isinstance(given, dict) else given)


def declared(paths: tuple[str, ...], read: Read) -> dict[str, str]:
    """The version that each package.json or package-lock.json asks of a package, that of a manifest before a lock's."""
    return versions(paths, "package.json", lambda path: _packages(path, read))


def own_names(paths: tuple[str, ...], read: Read) -> frozenset[str]:
    """The names of the project's own packages."""
    manifests = [path for path in paths if PurePosixPath(path).name == "package.json"]
    return frozenset(name for path in manifests if isinstance(name := json_of(read(path)).get("name"), str))


def dependencies(package: dict[str, Any]) -> list[tuple[str, str]]:
    """What a package.json depends on, with the version or place that it asks for, group by group."""
    groups = (table(package, group) for group in GROUPS)
    return [(name, asked) for group in groups for name, asked in group.items() if isinstance(asked, str)]


def _packages(path: str, read: Read) -> dict[str, str]:
    """The packages of one package.json or package-lock.json, with a version that suits it."""
    name = PurePosixPath(path).name
    if name == "package.json":
        return dict(dependencies(json_of(read(path))))
    if name in ("package-lock.json", "npm-shrinkwrap.json"):
        locked = table(json_of(read(path)), "packages")
        inside = {key.rpartition("node_modules/")[2]: value for key, value in locked.items() if "node_modules/" in key}
        versions = {entry: table(value).get("version") for entry, value in inside.items()}
        return {entry: f"^{version}" for entry, version in versions.items() if isinstance(version, str)}
    return {}


def _split(patterns: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Patterns, and those after a `!`, which take back."""
    given = tuple(patterns)
    taken_back = tuple(pattern[1:] for pattern in given if pattern.startswith("!"))
    return tuple(pattern for pattern in given if not pattern.startswith("!")), taken_back


def _real_name(name: str, value: str) -> str:
    """The package that is meant where `npm:` or `workspace:` gives it another name: `npm:@acme/api@^1`."""
    for lead in ("npm:", "workspace:"):
        alias = value.removeprefix(lead)
        real = alias[: alias.rfind("@")] if alias.rfind("@") > 0 else ""
        if value.startswith(lead) and real:
            return real
    return name
