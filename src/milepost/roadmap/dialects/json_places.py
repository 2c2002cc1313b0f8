"""JSON as values that know where they stand."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

DEEPEST = 100

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value of a document: what it is, and the characters from `start` to `end` that say so."""

    start: int
    end: int
    value: dict[str, Node] | list[Node] | str | int | float | bool | None

    def get(self, key: str) -> Node | None:
        """The value of a key, where this is an object that has it."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    @property
    def items(self) -> list[Node]:
        """The values of a list, and none of anything else."""
        return self.value if isinstance(self.value, list) else []

    @property
    def text(self) -> str:
        """A string or a number as text."""
        plain = isinstance(self.value, str | int | float) and not isinstance(self.value, bool)
        return str(self.value).encode("utf-8", "replace").decode() if plain else ""


def places_of(text: str) -> Node:
    """The document; ValueError where it is no JSON, or deeper than anybody writes."""
    node, end = _node(text, _skip(text, 0), 0)
    if _skip(text, end) != len(text):
        raise ValueError(f"something follows the JSON at character {end}")
    return node


def _skip(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    return blank.end() if blank else place


def _node(text: str, start: int, depth: int) -> tuple[Node, int]:
    if depth > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} levels deep")
    match text[start : start + 1]:
        case "{":
            return _object(text, start, depth)
        case "[":
            return _list(text, start, depth)
        case _:
            value, end = _DECODER.raw_decode(text, start)
            return Node(start=start, end=end, value=value), end


def _object(text: str, start: int, depth: int) -> tuple[Node, int]:
    found: dict[str, Node] = {}
    place = _skip(text, start + 1)
    while text[place : place + 1] != "}":
        key, place = _DECODER.raw_decode(text, place)
        if not isinstance(key, str):
            raise ValueError(f"no key at character {place}")
        place = _expect(text, place, ":")
        found[key], place = _node(text, place, depth + 1)
        place = _after(text, place, "}")
    return Node(start=start, end=place + 1, value=found), place + 1


def _list(text: str, start: int, depth: int) -> tuple[Node, int]:
    found: list[Node] = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != "]":
        node, place = _node(text, place, depth + 1)
        found.append(node)
        place = _after(text, place, "]")
    return Node(start=start, end=place + 1, value=found), place + 1


def _expect(text: str, place: int, sign: str) -> int:
    place = _skip(text, place)
    if text[place : place + 1] != sign:
        raise ValueError(f"{sign!r} is missing at character {place}")
    return _skip(text, place + 1)


def _after(text: str, place: int, closing: str) -> int:
    """The place of the next value, or of the bracket that closes."""
    place = _skip(text, place)
    if text[place : place + 1] == closing:
        return place
    return _expect(text, place, ",")
