"""Where in a manifest a missing package goes: to a group that is there, and never in place of another range.

Each function gives the new text, or None where the manifest cannot take the package or has it already.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from milepost.sources.manifests import adding, package_json
from milepost.sources.manifests.adding import CannotAdd, Dependency, Keys
from milepost.sources.manifests.python import requirement_name
from milepost.sources.parse_documents import at, json_of, strings, table, toml_of

_COMPILED = re.compile(r"--hash=|^#.*(?:pip-compile|uv pip compile|uv export)", re.MULTILINE)
_VERSIONS = re.compile(r"[<>=!~]=?[\w.*+!<>=~, ]+")
_OWN: Keys = ("project", "dependencies")
_POETRY: Keys = ("tool", "poetry", "dependencies")


def is_compiled(text: str) -> bool:
    """Whether a requirements file was made by a program from another one."""
    return _COMPILED.search(text) is not None


def in_requirements(text: str, requirement: str) -> str | None:
    """A requirements file with one more line at its end."""
    if is_compiled(text):
        return None
    return _new(text, lambda: adding.in_requirements(text, _wanted(requirement)))


def in_pyproject(text: str, requirement: str, *, groups: tuple[str, ...] = ()) -> str | None:
    """A pyproject.toml with one more dependency, in the first of `groups` that it has, else in the project's own."""
    if not could_list_dependencies(text):
        return None
    whole, wanted = toml_of(text), _wanted(requirement)
    keys = next((keys for keys in (*_group_keys(groups), _OWN) if isinstance(at(whole, *keys), list)), None)
    if keys is None and isinstance(at(whole, *_POETRY), dict):
        version = wanted.version.strip()
        plain = Dependency(name=wanted.name, version=version if _VERSIONS.fullmatch(version) else "*")
        return _new(text, lambda: adding.in_toml_table(text, _POETRY, plain))
    return _new(text, lambda: adding.in_toml_list(text, keys or _OWN, wanted))


def lists_dependencies(text: str) -> bool:
    """Whether a pyproject.toml is where this project's dependencies are listed."""
    whole = toml_of(text)
    return isinstance(at(whole, *_OWN), list) or isinstance(at(whole, *_POETRY), dict)


def could_list_dependencies(text: str) -> bool:
    """Whether a pyproject.toml could be: it describes a project, and leaves its dependencies to no other file."""
    whole = toml_of(text)
    described = isinstance(whole.get("project"), dict)
    return lists_dependencies(text) or (described and "dependencies" not in (at(whole, "project", "dynamic") or ()))


def names_in_pyproject(text: str, groups: tuple[str, ...] = ()) -> list[str]:
    """The requirements of the project itself and of these groups."""
    whole = toml_of(text)
    listed = [entry for keys in (_OWN, *_group_keys(groups)) for entry in strings(at(whole, *keys))]
    return [*listed, *table(whole, *_POETRY)]


def in_cargo(text: str, name: str, version: str, *, dev: bool = False) -> str | None:
    """A Cargo.toml with one more dependency."""
    whole, group = toml_of(text), "dev-dependencies" if dev else "dependencies"
    if "package" not in whole or any(name in table(whole, each) for each in ("dependencies", group)):
        return None
    return _new(text, lambda: adding.in_toml_table(text, (group,), Dependency(name=name, version=version)))


def in_package_json(text: str, name: str, version: str, *, dev: bool = False) -> str | None:
    """A package.json with one more dependency, where npm would put it."""
    group = "devDependencies" if dev else "dependencies"
    wanted = Dependency(name=name, version=version)
    after = _new(text, lambda: package_json.in_package_json(text, group, wanted))
    # What a package needs to run, its tests have too.
    return after if not dev or name not in table(json_of(text), "dependencies") else None


def _group_keys(groups: tuple[str, ...]) -> list[Keys]:
    return [
        keys for group in groups for keys in (("dependency-groups", group), ("project", "optional-dependencies", group))
    ]


def _wanted(requirement: str) -> Dependency:
    name = requirement_name(requirement)
    return Dependency(name=name, version=requirement.removeprefix(name))


def _new(text: str, add: Callable[[], str]) -> str | None:
    try:
        after = add()
    except CannotAdd:
        return None
    return None if after == text else after
