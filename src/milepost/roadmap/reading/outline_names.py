"""What a heading may be called by others: all of it, its number, its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from milepost.roadmap.reading.ids import split_id

_COUNTED = re.compile(
    r"(?P<kind>phase|milestone|stage|sprint|epic|section|part|step|user story|story|slice|wave)s?\s+"
    r"(?P<number>[^\s:,]{1,20}?)(?:\s*:|[.)](?=\s|$)|\s*[-–—]+(?=\s)|(?=\s|$))\s*(?P<name>.*)"
)


def names_of(heading: str) -> tuple[str, ...]:
    """The names that a heading goes by, folded."""
    return tuple(dict.fromkeys(filter(None, _names(_folded(heading)))))


def called(reference: str) -> tuple[str, ...]:
    """The names that a reference may mean, folded, the surest first: it says all that a heading says, or its number."""
    folded = _folded(reference)
    if found := _COUNTED.match(folded):
        counted = f"{found['kind']} {found['number']}"
        return (folded, f"{counted} {found['name']}") if found["name"] else (folded, counted, found["number"])
    number, name = split_id(folded)
    return (folded, f"{number} {name}".strip()) if number else (folded,)


def _names(folded: str) -> Iterator[str]:
    yield folded
    if found := _COUNTED.match(folded):
        counted = f"{found['kind']} {found['number']}"
        yield from (counted, f"{counted} {found['name']}", found["number"])
        yield from _names(found["name"])
        return
    number, name = split_id(folded)
    if number:
        yield from (name, number, f"{number} {name}")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
