"""TOML and JSON that somebody else wrote: what cannot be read, or is of another shape, is empty."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any


def toml_of(text: str | bytes | None) -> dict[str, Any]:
    """A TOML document, empty where there is none that can be read."""
    try:
        return tomllib.loads(_text(text))
    except (ValueError, RecursionError):
        return {}


def json_of(text: str | bytes | None) -> dict[str, Any]:
    """A JSON object, empty where there is none that can be read."""
    try:
        return table(json.loads(_text(text) or "{}"))
    except (ValueError, RecursionError):
        return {}


def at(value: object, *names: str) -> Any:
    """What is at the end of this way through a document, None where the way ends early."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def table(value: object, *names: str) -> dict[str, Any]:
    """The table at the end of this way through a document, empty where there is none."""
    found = at(value, *names)
    return found if isinstance(found, dict) else {}


def tables(value: object) -> list[dict[str, Any]]:
    """The tables in a list, none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def strings(value: object) -> tuple[str, ...]:
    """The texts in a list, none where it is no list."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _text(text: str | bytes | None) -> str:
    return text.decode("utf-8-sig", "replace") if isinstance(text, bytes) else text or ""
