"""Versions: where files state one, and how it goes up."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, Literal

from milepost.sandbox.confined import PathRefused

Part = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")
VERSION = r"\d+\.\d+\.\d+(?:[-.+]?[0-9A-Za-z][0-9A-Za-z.+-]*)?"

_MANIFESTS = ("pyproject.toml", "Cargo.toml", "package.json", "package-lock.json")
_CODE = re.compile(r"(?:src/)?(?:[^/]+/)?(?:__init__|__about__|__version__|_version|version)\.py|[^/]+\.py")
_ASSIGNED = re.compile(r"^(__version__\s*(?::\s*[\w.\[\]]+\s*)?=\s*)(['\"])([^'\"\n]+)\2", re.MULTILINE)
_TABLES = {"pyproject.toml": ("project", "tool.poetry"), "Cargo.toml": ("package", "workspace.package")}
_UNRELEASED = re.compile(r"^(#+) \[?unreleased\]?.*$", re.MULTILINE | re.IGNORECASE)


def is_place(path: str) -> bool:
    """Whether a file of this name can state the project's version."""
    return path in _MANIFESTS or _CODE.fullmatch(path) is not None


def stated_in(path: str, text: str) -> str:
    """The version that a file states, empty for none."""
    if path in _TABLES:
        return next((version for _, version in _in_tables(path, text)), "")
    if path.endswith(".json"):
        version = _json(path, text).get("version")
        return version if isinstance(version, str) else ""
    found = _ASSIGNED.search(text)
    return found[3] if found else ""


def with_version(path: str, text: str, new: str) -> str:
    """The text with another version wherever it states the project's own."""
    if path in _TABLES:
        for table, old in _in_tables(path, text):
            text = _in_table(text, table, old, new)
        return text
    if path.endswith(".json"):
        return _in_json(path, text, new)
    return _ASSIGNED.sub(lambda found: f"{found[1]}{found[2]}{new}{found[2]}", text, count=1)


def bumped(version: str, part: str) -> str:
    """The next version: what is behind the part becomes 0, and what is behind the three numbers goes."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if found is None:
        raise PathRefused(f"the version {version!r} is not three numbers between dots")
    major, minor, patch = map(int, found.groups())
    match part:
        case "major":
            return f"{major + 1}.0.0"
        case "minor":
            return f"{major}.{minor + 1}.0"
        case _:
            return f"{major}.{minor}.{patch + 1}"


def with_heading(changelog: str, version: str, date: str) -> str:
    """A changelog whose unreleased changes are those of a version; one without such changes stays as it is."""
    if re.search(rf"^#+ \[?v?{re.escape(version)}\]?(?:\s|$)", changelog, re.MULTILINE):
        return changelog
    found = _UNRELEASED.search(changelog)
    if found is None:
        return changelog
    bracketed = f"[{version}]" if "[" in found[0] else version
    heading = f"{found[1]} {bracketed}{f' - {date}' if date else ''}"
    return f"{changelog[: found.end()]}\n\n{heading}{changelog[found.end() :]}"


def _in_tables(path: str, text: str) -> list[tuple[str, str]]:
    """The tables of a TOML manifest that state a version, with it."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PathRefused(f"{path} cannot be read: {error}") from error
    found: list[tuple[str, str]] = []
    for table in _TABLES[path]:
        below: Any = document
        for part in table.split("."):
            below = below.get(part, {}) if isinstance(below, dict) else {}
        version = below.get("version") if isinstance(below, dict) else None
        if isinstance(version, str):
            found.append((table, version))
    return found


def _in_table(text: str, table: str, old: str, new: str) -> str:
    head = re.search(rf"^\[\s*{re.escape(table)}\s*\][^\n]*\n", text, re.MULTILINE)
    start = head.end() if head else 0
    after = re.compile(r"^\[", re.MULTILINE).search(text, start)
    end = after.start() if after else len(text)
    line = re.compile(rf"^(\s*version\s*=\s*)(['\"]){re.escape(old)}\2", re.MULTILINE)
    changed, count = line.subn(lambda found: f"{found[1]}{found[2]}{new}{found[2]}", text[start:end])
    if head is None or count != 1:
        raise PathRefused(f"the version in [{table}] is not on a line of its own")
    return text[:start] + changed + text[end:]


def _in_json(path: str, text: str, new: str) -> str:
    """The text with the version of the package itself changed: in a lock it stands twice, before all others."""
    old = stated_in(path, text)
    places = (
        2 if path == "package-lock.json" and _json(path, text).get("packages", {}).get("", {}).get("version") else 1
    )
    line = re.compile(rf'("version"\s*:\s*)"{re.escape(old)}"')
    changed = line.sub(lambda found: f"{found[1]}{json.dumps(new)}", text, count=places)
    wanted = _json(path, text) | {"version": new}
    if places == 2:
        wanted["packages"] = {**wanted["packages"], "": {**wanted["packages"][""], "version": new}}
    if json.loads(changed) != wanted:
        raise PathRefused(f"{path}: the version cannot be told from others")
    return changed


def _json(path: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PathRefused(f"{path} cannot be read: {error}") from error
    return found if isinstance(found, dict) else {}
