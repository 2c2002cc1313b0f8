"""Values out of parsed files, whose shape is whatever somebody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def at(table: Mapping[str, Any], *keys: str) -> Any:
    found: Any = table
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def strings(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


def strings_or_one(value: object) -> tuple[str, ...]:
    return tuple(value.splitlines()) if isinstance(value, str) else strings(value)


def once(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
