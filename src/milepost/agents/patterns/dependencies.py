"""Where in a manifest a package goes that a pattern adds: to the group that is asked for."""

from __future__ import annotations

from milepost.sources.manifests import adding, package_json
from milepost.sources.manifests.adding import CannotAdd, Dependency
from milepost.sources.parse_documents import at, table

_NODE = {
    "main": "dependencies",
    "dev": "devDependencies",
    "peer": "peerDependencies",
    "optional": "optionalDependencies",
}
_CARGO = {"main": "dependencies", "dev": "dev-dependencies", "build": "build-dependencies"}


def in_pyproject(text: str, wanted: Dependency) -> str:
    """pyproject.toml with the package: in [project], in a dependency group, or in Poetry's tables."""
    whole = adding.loaded(text)
    project = at(whole, "project")
    if not isinstance(project, dict) and "dependencies" in table(whole, "tool", "poetry"):
        return _in_poetry(text, wanted)
    if wanted.group != "main":
        optional = wanted.group in table(project, "optional-dependencies")
        owner = ("project", "optional-dependencies") if optional else ("dependency-groups",)
        return adding.in_toml_list(text, (*owner, wanted.group), wanted)
    if not isinstance(project, dict):
        raise CannotAdd("it has no [project]")
    if "dependencies" in project.get("dynamic", ()):
        raise CannotAdd("its dependencies are dynamic: add the package where they come from")
    return adding.in_toml_list(text, ("project", "dependencies"), wanted)


def in_requirements(text: str, wanted: Dependency) -> str:
    """A requirements file with the package on a line of its own."""
    if wanted.group not in ("main", "dev"):
        raise CannotAdd(f"a requirements file has no group {wanted.group!r}")
    return adding.in_requirements(text, wanted)


def in_package_json(text: str, wanted: Dependency) -> str:
    """package.json with the package among its dependencies."""
    return package_json.in_package_json(text, _known(wanted.group, _NODE), wanted)


def in_cargo(text: str, wanted: Dependency) -> str:
    """Cargo.toml with the package among its dependencies."""
    group = _known(wanted.group, _CARGO)
    if "package" not in adding.loaded(text):
        raise CannotAdd("it has no [package]")
    return adding.in_toml_table(text, (group,), wanted)


def _in_poetry(text: str, wanted: Dependency) -> str:
    if "[" in wanted.name:
        raise CannotAdd("extras are not written into Poetry's tables: add the package by hand")
    owner = () if wanted.group == "main" else ("group", wanted.group)
    return adding.in_toml_table(text, ("tool", "poetry", *owner, "dependencies"), wanted)


def _known(group: str, groups: dict[str, str]) -> str:
    if group not in groups:
        raise CannotAdd(f"there is no group {group!r}; there are {', '.join(groups)}")
    return groups[group]
