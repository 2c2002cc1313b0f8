"""JSON lines as a program prints them: long ones put together again, and whatever else it prints taken as words.

The terminal gives a line that is longer than 16,384 characters in pieces, the first of them of just that length.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

PIECE = 16_384
LONGEST = 4_000_000
MOST_PIECES = 2 * LONGEST // PIECE
LARGEST = 1e12
MOST_TRIES = 20  # a program that only prints what looks like an end must not keep us parsing


class JsonLines:
    """Reads one stream of output, line by line."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._tries = 0

    def read(self, text: str) -> Mapping[str, Any] | str | None:
        """The object that a line holds, its words when it holds none, or None while it is not all there."""
        if self._pieces:
            return self._going_on(text)
        found = _object(text)
        if found is not None:
            return found
        if text.startswith("{") and len(text) == PIECE:
            self._pieces, self._tries = [text], 0
            return None
        return text

    def _going_on(self, text: str) -> Mapping[str, Any] | str | None:
        self._pieces.append(text)
        if text.endswith("}"):
            self._tries += 1
            found = _object("".join(self._pieces)) or _object(text)  # the latter when the long one never ended
            if found is not None:
                self._pieces = []
                return found
        too_long = len(self._pieces) > MOST_PIECES or sum(map(len, self._pieces)) > LONGEST
        if too_long or self._tries >= MOST_TRIES:
            words, self._pieces = self._pieces[0], []
            return words
        return None


def inside(value: Any, *names: str) -> Mapping[str, Any]:
    """The object below these names, an empty one when it is not there."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def objects(value: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list."""
    return tuple(each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else ()


def words(value: Any) -> str:
    """A text that can be written down, an empty one when it is something else."""
    return value.encode("utf-8", "replace").decode().replace("\0", "") if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A number of things, 0 when it is something else."""
    return int(amount(value))


def amount(value: Any) -> float:
    """An amount that can be, 0 when it is something else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return min(number, LARGEST) if math.isfinite(number) and number > 0 else 0.0


def _object(text: str) -> Mapping[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
