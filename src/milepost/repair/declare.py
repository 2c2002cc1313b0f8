"""One more package in a Python or Rust manifest, everything else in it as it was, comments and all.

Each function gives the new text, or None where the manifest cannot take the package or has it already.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

from milepost.repair.manifests import requirement_name
from milepost.repair.packages import normalised

LONGEST_TOML = 200_000

_COMPILED = re.compile(r"--hash=|^#.*(?:pip-compile|uv pip compile|uv export)", re.MULTILINE)
_VERSIONS = re.compile(r"[<>=!~]=?[\w.*+!<>=~, ]+")

Keys = tuple[str, ...]


def is_compiled(text: str) -> bool:
    """Whether a requirements file was made by a program from another one."""
    return _COMPILED.search(text) is not None


def in_requirements(text: str, requirement: str) -> str | None:
    """A requirements file with one more line at its end."""
    if is_compiled(text) or text.rstrip().endswith("\\") or _names(text.splitlines(), requirement):
        return None
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else end
    return f"{text}{gap}{requirement}{end}"


def in_pyproject(text: str, requirement: str, *, groups: tuple[str, ...] = ()) -> str | None:
    """A pyproject.toml with one more dependency, in the first of `groups` that it has, else in the project's own."""
    if not could_list_dependencies(text):
        return None
    table, own = _loaded(text), ("project", "dependencies")
    keys = next((keys for keys in _group_keys(groups) if isinstance(_at(table, keys), list)), own)
    if isinstance(listed := _at(table, keys), list):
        known = _names(_strings(listed), requirement)
        return None if known else _edited(text, lambda whole: _at(whole, keys).append(requirement))
    if isinstance(poetry := _at(table, _POETRY), dict):
        name = requirement_name(requirement)
        version = requirement.removeprefix(name).strip()
        entry = {name: version if _VERSIONS.fullmatch(version) else "*"}
        return None if _names(list(poetry), name) else _edited(text, lambda whole: _at(whole, _POETRY).update(entry))
    return _edited(text, lambda whole: whole["project"].update({"dependencies": [requirement]}))


def lists_dependencies(text: str) -> bool:
    """Whether a pyproject.toml is where this project's dependencies are listed."""
    table = _loaded(text)
    return isinstance(_at(table, ("project", "dependencies")), list) or isinstance(_at(table, _POETRY), dict)


def could_list_dependencies(text: str) -> bool:
    """Whether a pyproject.toml could be: it describes a project, and leaves its dependencies to no other file."""
    table = _loaded(text)
    described = isinstance(table.get("project"), dict)
    return lists_dependencies(text) or (described and "dependencies" not in (_at(table, ("project", "dynamic")) or ()))


def names_in_pyproject(text: str, groups: tuple[str, ...] = ()) -> list[str]:
    """The requirements of the project itself and of these groups."""
    table = _loaded(text)
    lists = [_at(table, keys) for keys in (("project", "dependencies"), *_group_keys(groups))]
    found = [entry for listed in lists if isinstance(listed, list) for entry in _strings(listed)]
    poetry = _at(table, _POETRY)
    return [*found, *poetry] if isinstance(poetry, dict) else found


def in_cargo(text: str, name: str, version: str, *, dev: bool = False) -> str | None:
    """A Cargo.toml with one more dependency."""
    table, group = _loaded(text), "dev-dependencies" if dev else "dependencies"
    if "package" not in table or any(name in (table.get(each) or {}) for each in ("dependencies", group)):
        return None
    return _edited(text, lambda whole: whole.setdefault(group, {}).update({name: version}))


_POETRY: Keys = ("tool", "poetry", "dependencies")


def _group_keys(groups: tuple[str, ...]) -> list[Keys]:
    return [
        keys for group in groups for keys in (("dependency-groups", group), ("project", "optional-dependencies", group))
    ]


def _edited(text: str, edit: Callable[[Any], object]) -> str | None:
    """The text after an edit that keeps its form, when it means what the same edit of its meaning does."""
    import tomlkit  # here: most runs mend no manifest

    if len(text) > LONGEST_TOML:
        return None
    try:
        document, meant = tomlkit.parse(text), tomllib.loads(text)
        edit(document)
        edit(meant)
        after = tomlkit.dumps(document)
        return after if tomllib.loads(after) == meant else None
    except (tomlkit.exceptions.TOMLKitError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _loaded(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _at(table: Any, keys: Keys) -> Any:
    """What stands under these keys, None where one of them is missing."""
    for key in keys:
        table = table.get(key) if hasattr(table, "get") else None
    return table


def _strings(values: list[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _names(lines: list[str], requirement: str) -> bool:
    wanted = normalised(requirement_name(requirement))
    plain = [line for line in lines if not line.lstrip().startswith(("#", "-"))]
    return any(normalised(requirement_name(line)) == wanted for line in plain)
