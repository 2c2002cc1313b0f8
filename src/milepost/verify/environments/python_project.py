"""What a Python project declares about itself, and how its parts are read. Nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from milepost.sources.manifests.python import normalised
from milepost.sources.parse_documents import at, strings, table

FOR_TESTING = frozenset({"test", "tests", "testing", "dev", "develop", "development", "ci"})

EntryPoints = Mapping[str, Mapping[str, str]]

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^]]*)\])?")
_NO_REQUIREMENT = re.compile(r"[\r\n{}\\]|(?:^|\s)-|^[\w.-]+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """`extras` and `groups` are all there are; `requirements` those of running and testing. `notes` are what a reader
    of the files alone could not find out. `source` is the folder, relative to the project's, that it is imported from.
    """

    name: str = ""
    version: str = ""
    requirements: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    entry_points: EntryPoints = field(default_factory=dict)
    is_package: bool = False
    source: str = ""
    notes: tuple[str, ...] = ()


def name_of(requirement: str) -> str:
    """The distribution that a requirement asks for, normal; empty for an option or an address."""
    found = _NAME.match(requirement)
    return normalised(found[1]) if found else ""


def is_requirement(line: str) -> bool:
    """Whether a declared dependency is a name with whatever follows, on one line.

    Anything else would be read by an installer as an option, as a path, or as two lines.
    """
    return _NAME.match(line) is not None and not _NO_REQUIREMENT.search(line)


def expanded(name: str, optional: Mapping[str, tuple[str, ...]], asked: tuple[str, ...]) -> Iterator[str]:
    """The requirements of the extras that are asked for or are for testing, with those that they name of their own."""
    known = {normalised(extra): extra for extra in optional}
    todo = [extra for extra in known if extra in FOR_TESTING or extra in map(normalised, asked)]
    for extra in todo:
        for line in optional.get(known.get(extra, ""), ()):
            found = _NAME.match(line)
            if found and name and normalised(found[1]) == normalised(name):
                named = [normalised(one) for one in (found[2] or "").split(",") if one.strip()]
                todo.extend(one for one in named if one not in todo)
            else:
                yield line


def groups_for_testing(whole: Mapping[str, Any]) -> tuple[str, ...]:
    """The dependency groups for testing: the standard's, and those that tools had before it."""
    groups = table(whole, "dependency-groups")
    lines = [line for name in groups if normalised(name) in FOR_TESTING for line in _group(groups, name, ())]
    for name, group in table(whole, "tool", "pdm", "dev-dependencies").items():
        lines.extend(strings(group) if normalised(name) in FOR_TESTING else ())
    lines.extend(strings(at(whole, "tool", "uv", "dev-dependencies")))
    for name in ("default", "test", "hatch-test"):
        environment = table(whole, "tool", "hatch", "envs", name)
        lines.extend((*strings(environment.get("dependencies")), *strings(environment.get("extra-dependencies"))))
    return once(tuple(lines))


def strings_or_one(value: object) -> tuple[str, ...]:
    return tuple(value.splitlines()) if isinstance(value, str) else strings(value)


def once(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))


def entry_points_of(groups: Mapping[str, Any]) -> EntryPoints:
    found = {}
    for group, points in groups.items():
        plain = {str(name): value for name, value in table(points).items() if isinstance(value, str)}
        if plain:
            found[group] = plain
    return found


def _group(groups: Mapping[str, Any], name: str, above: tuple[str, ...]) -> Iterator[str]:
    known = {normalised(each): each for each in groups}
    members = groups.get(known.get(normalised(name), ""), [])
    for member in members if isinstance(members, list) and name not in above else []:
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict) and isinstance(member.get("include-group"), str):
            yield from _group(groups, member["include-group"], (*above, name))
