"""What Poetry's own part of a pyproject.toml declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from milepost.sources.manifests.python import normalised
from milepost.sources.parse_documents import strings, table
from milepost.verify.environments.python_project import FOR_TESTING, Declared, entry_points_of, groups_for_testing, once


def from_poetry(whole: Mapping[str, Any], extras: tuple[str, ...]) -> Declared:
    poetry = whole["tool"]["poetry"]
    groups = table(poetry.get("group"))
    tables = [table(poetry.get("dependencies")), table(poetry.get("dev-dependencies"))]
    tables += [
        table(group, "dependencies")
        for name, group in groups.items()
        if name in FOR_TESTING or not table(group).get("optional")
    ]
    named_by_extras = {
        normalised(one) for name, names in table(poetry.get("extras")).items()
        if name in FOR_TESTING or name in extras for one in strings(names)
    }  # fmt: skip
    lines, notes = [], []
    for one in tables:
        for name, constraint in one.items():
            optional = isinstance(constraint, dict) and constraint.get("optional")
            if name == "python" or (optional and normalised(name) not in named_by_extras):
                continue
            line = poetry_requirement(name, constraint)
            if line is None:
                notes.append(f"{name} comes from a source that only Poetry can read")
            else:
                lines.append(line)
    packages = [table(each).get("from") for each in poetry.get("packages", []) if isinstance(poetry["packages"], list)]
    return Declared(
        name=str(poetry.get("name", "")),
        version=str(poetry.get("version", "")),
        requirements=once((*lines, *groups_for_testing(whole))),
        entry_points=entry_points_of({"console_scripts": poetry.get("scripts")} | table(poetry.get("plugins"))),
        is_package=poetry.get("package-mode", True) is not False and bool(poetry.get("name")),
        source=next((str(place) for place in packages if place), ""),
        notes=tuple(notes),
    )


def poetry_requirement(name: str, constraint: object) -> str | None:
    """A dependency as Poetry writes it, as everybody else does; None where it is no version of a published package."""
    extras = ""
    if isinstance(constraint, dict):
        if "version" not in constraint:
            return None
        wanted = [str(extra) for extra in constraint.get("extras", [])]
        extras = f"[{','.join(wanted)}]" if wanted else ""
        marker = str(constraint.get("markers", ""))
        return f"{name}{extras}{_pep440(str(constraint['version']))}" + (f"; {marker}" if marker else "")
    return f"{name}{_pep440(constraint)}" if isinstance(constraint, str) else None


def _pep440(constraint: str) -> str:
    parts = [_pep440_part(part.strip()) for part in constraint.split(",")]
    return ",".join(part for part in parts if part)


def _pep440_part(part: str) -> str:
    if part in ("", "*"):
        return ""
    if part[0] == "^":
        numbers = part[1:].strip().split(".")
        kept = next((place for place, number in enumerate(numbers) if number != "0"), len(numbers) - 1)
        return f">={part[1:].strip()},<{_after(numbers[: kept + 1])}"
    if part[0] == "~" and not part.startswith("~="):
        numbers = part[1:].strip().split(".")
        return f">={part[1:].strip()},<{_after(numbers[:2])}"
    return part if part[0] in "<>=!~" else f"=={part}"


def _after(numbers: list[str]) -> str:
    last = re.match(r"\d+", numbers[-1])
    return ".".join((*numbers[:-1], str(int(last[0]) + 1 if last else 1)))
