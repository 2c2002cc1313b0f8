"""TOML and JSON that somebody else wrote: what cannot be read is empty."""

from __future__ import annotations

import json
import tomllib
from typing import Any


def toml_of(text: str | None) -> dict[str, Any]:
    """A TOML document, empty where there is none that can be read."""
    try:
        return tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def json_of(text: str | None) -> dict[str, Any]:
    """A JSON object, empty where there is none that can be read."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def table(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """The table at the end of this way through a document, empty where the way ends early."""
    for name in names:
        found = document.get(name)
        if not isinstance(found, dict):
            return {}
        document = found
    return document
