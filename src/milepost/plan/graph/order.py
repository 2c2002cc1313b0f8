"""The order in which tasks of equal right are taken: by number where they have one, else as written."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERED = re.compile(r"(?P<series>[A-Za-z]*-?)(?P<numbers>\d+(?:[.-]\d+)*)(?P<letter>[A-Za-z]?)")


def in_order(ids: Sequence[str]) -> list[str]:
    """The ids of each series, such as 1.2 and 1.10 or T1 and T2, sorted among the places they hold in the file."""
    series = [_series(name) for name in ids]
    waiting: dict[str, list[str]] = {}
    for name, key in zip(ids, series, strict=True):
        if key is not None:
            waiting.setdefault(key, []).append(name)
    sorted_series = {key: iter(sorted(names, key=_number)) for key, names in waiting.items()}
    return [name if key is None else next(sorted_series[key]) for name, key in zip(ids, series, strict=True)]


def _series(name: str) -> str | None:
    found = _NUMBERED.fullmatch(name)
    return found["series"].casefold() if found else None


def _number(name: str) -> tuple[tuple[int, ...], str]:
    found = _NUMBERED.fullmatch(name)
    assert found is not None
    return tuple(int(part) for part in re.split(r"[.-]", found["numbers"])), found["letter"]
