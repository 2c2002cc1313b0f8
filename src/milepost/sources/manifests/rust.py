"""Cargo.toml and Cargo.lock: a package, a workspace, or both, and the crates that they name."""

from __future__ import annotations

import tomllib
from pathlib import PurePosixPath
from typing import Any

from milepost.sources.manifests.project import ANY_VERSION, Manifest, Read, versions
from milepost.sources.parse_documents import string, strings, table, tables, toml_of

GROUPS = ("dependencies", "dev-dependencies", "build-dependencies")


def read_cargo(content: str) -> Manifest:
    """What a Cargo.toml says. A dependency without a path is the registry's, unless the workspace says where it is."""
    whole = tomllib.loads(content)
    owners = (whole, *map(table, table(whole, "target").values()))
    stated = [(name, table(value)) for owner in owners for name, value in _dependencies(owner)]
    paths = tuple(path for _, value in stated if (path := string(value.get("path"))))
    workspace = table(whole, "workspace")
    return Manifest(
        kind="rust",
        name=string(table(whole, "package").get("name")),
        # What the package of a workspace's own folder has by path is in that workspace, listed or not.
        members=(*strings(workspace.get("members")), *(paths if "workspace" in whole else ())),
        left_out=strings(workspace.get("exclude")),
        needs=tuple(string(value.get("package")) or name for name, value in stated if value.get("workspace") is True),
        paths=paths,
    )


def declared(paths: tuple[str, ...], read: Read) -> dict[str, str]:
    """The version that each Cargo.toml or Cargo.lock asks of a crate, that of a manifest before a lock's."""
    return versions(paths, "Cargo.toml", lambda path: _crates(path, read))


def _crates(path: str, read: Read) -> dict[str, str]:
    name = PurePosixPath(path).name
    if name == "Cargo.lock":
        return {str(one.get("name")): str(one.get("version")) for one in tables(toml_of(read(path)).get("package"))}
    if name != "Cargo.toml":
        return {}
    whole = toml_of(read(path))
    stated = (*_dependencies(whole), *table(whole, "workspace", "dependencies").items())
    return {entry: string(value) or string(table(value).get("version")) or ANY_VERSION for entry, value in stated}


def _dependencies(owner: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for group in GROUPS for name, value in table(owner, group).items()]
