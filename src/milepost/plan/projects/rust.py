"""A Cargo.toml: a package, a workspace, or both."""

from __future__ import annotations

from typing import Any

from milepost.plan.projects.manifest import Manifest, from_toml, inside, table, text, texts

_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def read(content: str) -> Manifest:
    """What a Cargo.toml says. A dependency without a path is the registry's, unless the workspace says where it is."""
    whole = from_toml(content)
    owners = (whole, *map(table, table(whole.get("target")).values()))
    stated = [(name, table(value)) for owner in owners for name, value in _dependencies(owner)]
    paths = tuple(path for _, value in stated if (path := text(value.get("path"))))
    workspace = inside(whole, "workspace")
    return Manifest(
        kind="rust",
        name=text(inside(whole, "package").get("name")),
        # What the package of a workspace's own folder has by path is in that workspace, listed or not.
        members=(*texts(workspace.get("members")), *(paths if "workspace" in whole else ())),
        left_out=texts(workspace.get("exclude")),
        needs=tuple(text(value.get("package")) or name for name, value in stated if value.get("workspace") is True),
        paths=paths,
    )


def _dependencies(owner: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for key in _DEPENDENCIES for name, value in table(owner.get(key)).items()]
