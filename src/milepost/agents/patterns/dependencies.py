"""A package added to the text of a manifest, whose layout is kept."""

from __future__ import annotations

import json
import re
from collections.abc import MutableMapping, MutableSequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milepost.agents.confined import PathRefused
from milepost.agents.patterns.new_module.python_manifest import parsed, table_at

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_REQUIRED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^]]*\])?\s*([^;#]*)(?:;([^#]*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A package, the range of its versions, and the group that asks for it: `main`, `dev` or another."""

    name: str
    version: str = ""
    group: str = "main"
    replace: bool = False

    @property
    def requirement(self) -> str:
        """The package as a requirement of Python."""
        return f"{self.name}{self.version}"


def in_pyproject(text: str, wanted: Dependency) -> str:
    """pyproject.toml with the package: in [project], in a dependency group, or in Poetry's tables."""
    import tomlkit

    document = parsed(text, "it")
    project, poetry = table_at(document, "project"), table_at(document, "tool", "poetry")
    if project is None and poetry is not None and "dependencies" in poetry:
        return _in_poetry(document, poetry, wanted)
    if wanted.group == "main":
        if project is None:
            raise PathRefused("it has no [project]")
        if "dependencies" in project.get("dynamic", ()):
            raise PathRefused("its dependencies are dynamic: add the package where they come from")
        owner, key = project, "dependencies"
    elif project is not None and wanted.group in (table_at(project, "optional-dependencies") or {}):
        owner, key = project["optional-dependencies"], wanted.group
    else:
        owner, key = document.setdefault("dependency-groups", tomlkit.table()), wanted.group
    listed = owner.get(key)
    if listed is None:
        listed = owner[key] = tomlkit.array()
    if not isinstance(listed, MutableSequence):
        raise PathRefused(f"{key} is no list")
    _add_to_list(listed, wanted)
    return document.as_string()


def in_requirements(text: str, wanted: Dependency) -> str:
    """A requirements file with the package on a line of its own."""
    if wanted.group not in ("main", "dev"):
        raise PathRefused(f"a requirements file has no group {wanted.group!r}")
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    for at, line in enumerate(lines):
        if _normal(_name(line)) != _normal(_name(wanted.requirement)):
            continue
        if line.rstrip().endswith("\\"):
            raise PathRefused(f"{line.strip()!r} goes on in the next line: change it by hand")
        if _same(line, wanted.requirement):
            return text
        _may_replace_line(line.strip(), wanted)
        lines[at] = f"{wanted.requirement}{end}"
        return "".join(lines)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += end
    return "".join((*lines, f"{wanted.requirement}{end}"))


def in_package_json(text: str, wanted: Dependency) -> str:
    """package.json with the package among its dependencies, in the order of their names where they are in order."""
    groups = {"main": "dependencies", "dev": "devDependencies", "peer": "peerDependencies"}
    groups["optional"] = "optionalDependencies"
    if wanted.group not in groups:
        raise PathRefused(f"there is no group {wanted.group!r}; there are {', '.join(groups)}")
    try:
        package = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PathRefused(f"it cannot be read: {error}") from error
    listed = package.setdefault(groups[wanted.group], {}) if isinstance(package, dict) else None
    if not isinstance(listed, dict):
        raise PathRefused("its dependencies are no object")
    known = listed.get(wanted.name)
    if known == wanted.version:
        return text
    if known is not None:
        _may_replace(f"{wanted.name} {known}", wanted)
    in_order = list(listed) == sorted(listed)
    listed[wanted.name] = wanted.version
    if in_order:
        package[groups[wanted.group]] = dict(sorted(listed.items()))
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return json.dumps(package, indent=found[1] if found else "  ", ensure_ascii=False) + text[len(text.rstrip()) :]


def in_cargo(text: str, wanted: Dependency) -> str:
    """Cargo.toml with the package among its dependencies."""
    import tomlkit

    groups = {"main": "dependencies", "dev": "dev-dependencies", "build": "build-dependencies"}
    if wanted.group not in groups:
        raise PathRefused(f"there is no group {wanted.group!r}; there are {', '.join(groups)}")
    document = parsed(text, "it")
    if "package" not in document:
        raise PathRefused("it has no [package]")
    _add_to_table(document.setdefault(groups[wanted.group], tomlkit.table()), wanted, wanted.version)
    return document.as_string()


def _in_poetry(document: TOMLDocument, poetry: MutableMapping[str, Any], wanted: Dependency) -> str:
    import tomlkit

    owner = poetry
    if wanted.group != "main":
        group = poetry.setdefault("group", tomlkit.table(is_super_table=True))
        owner = group.setdefault(wanted.group, tomlkit.table(is_super_table=True))
    if "[" in wanted.name:
        raise PathRefused("extras are not written into Poetry's tables: add the package by hand")
    _add_to_table(owner.setdefault("dependencies", tomlkit.table()), wanted, wanted.version or "*")
    return document.as_string()


def _add_to_list(listed: MutableSequence[Any], wanted: Dependency) -> None:
    for at, line in enumerate(listed):
        if not isinstance(line, str) or _normal(_name(line)) != _normal(_name(wanted.requirement)):
            continue
        if _same(line, wanted.requirement):
            return
        _may_replace_line(line, wanted)
        listed[at] = wanted.requirement
        return
    listed.append(wanted.requirement)


def _add_to_table(table: MutableMapping[str, Any], wanted: Dependency, version: str) -> None:
    known = next((key for key in table if _normal(key) == _normal(wanted.name)), None)
    if known is None:
        table[wanted.name] = version
        return
    entry = table[known]
    stated = entry.get("version", "") if isinstance(entry, MutableMapping) else entry
    if stated == version:
        return
    _may_replace(f"{known} {stated}", wanted)
    if isinstance(entry, MutableMapping):
        entry["version"] = version
    else:
        table[known] = version


def _may_replace_line(there: str, wanted: Dependency) -> None:
    found = _REQUIRED.match(there)
    if found and found[4]:
        # Another line may have the package for the rest.
        raise PathRefused(f"{there!r} holds only where its marker says: change it by hand")
    _may_replace(there, wanted)


def _may_replace(there: str, wanted: Dependency) -> None:
    if not wanted.replace:
        raise PathRefused(f"{there!r} is there already; give replace=true to change its range")


def _name(requirement: str) -> str:
    found = _REQUIRED.match(requirement)
    return found[1] if found else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _same(one: str, other: str) -> bool:
    def parts(text: str) -> tuple[str, ...]:
        found = _REQUIRED.match(text)
        return tuple("".join((part or "").split()) for part in found.groups()[1:]) if found else ()

    return parts(one) == parts(other)
