"""A pyproject.toml: PEP 621 and dependency groups, workspaces of uv, and poetry's own tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from milepost.plan.projects.manifest import Manifest, from_toml, inside, table, text, texts

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")


def read(content: str) -> Manifest:
    """What a pyproject.toml says."""
    whole = from_toml(content)
    project, uv, poetry = inside(whole, "project"), inside(whole, "tool", "uv"), inside(whole, "tool", "poetry")
    workspace = table(uv.get("workspace"))
    sources = dict(_sources(table(uv.get("sources"))))
    poetry_tables = [table(poetry.get("dependencies")), table(poetry.get("dev-dependencies"))]
    poetry_tables += [table(table(group).get("dependencies")) for group in table(poetry.get("group")).values()]
    stated = [*_requirements(project, whole, uv), *(name for one in poetry_tables for name in one)]
    return Manifest(
        kind="python",
        name=text(project.get("name")) or text(poetry.get("name")),
        members=texts(workspace.get("members")),
        left_out=texts(workspace.get("exclude")),
        needs=tuple(dict.fromkeys(normal(name) for name in (*stated, *sources) if name)),
        paths=tuple(
            path
            for one in (sources, *poetry_tables)
            for value in one.values()
            if (path := text(table(value).get("path")))
        ),
    )


def normal(name: str) -> str:
    """A name of a distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(project: Mapping[str, Any], whole: Mapping[str, Any], uv: Mapping[str, Any]) -> Iterator[str]:
    """The names that all lists of requirements begin with."""
    lists = [project.get("dependencies"), uv.get("dev-dependencies")]
    lists += [*table(project.get("optional-dependencies")).values(), *table(whole.get("dependency-groups")).values()]
    for requirement in (one for given in lists for one in texts(given)):
        if (found := _NAME.match(requirement)) is not None:
            yield found[1]


def _sources(sources: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where uv takes packages from that are no registry's: the workspace, or a path."""
    for name, given in sources.items():
        for one in given if isinstance(given, list) else [given]:
            if table(one).get("workspace") is True or "path" in table(one):
                yield name, table(one)
