"""The values that a Rust test expects: what `assert_eq!` compares with, and what goes into that."""

from __future__ import annotations

import re

from milepost.verify.compiled.code import arguments, depth
from milepost.verify.compiled.literals import other_literals, other_value

_MORE_THAN_BUILT = re.compile(r"[^\w\s(),&\[\]{}:.!\"'-]|(?<!\bvec)!|\.(?!(?:into|to_string|to_owned|to_vec)\(\)|\d)")
_HEAD = re.compile(r"(?:[\s&(\[]|\bvec!|\b(?:Some|Ok|Err)\s*\()*(?P<path>(?:\w+\s*::\s*)*\w+)")
_ASSERT = re.compile(r"(?<![\w:])assert_eq!\s*(?=\()")

Edit = tuple[int, int, str]
Other = tuple[list[Edit], bool]


def expectations(source: str, code: str, start: int, end: int) -> list[Other]:
    """For each comparison of the function at this place the edit that makes it expect another value, and whether it is
    one of its own statements."""
    found: list[Other] = []
    for call in _ASSERT.finditer(code, start, end):
        compared = [other_value(source, code, *place) for place in arguments(code, call.end())[:2]]
        edits = [edit for edit in compared if edit is not None]
        if len(compared) == 2 and len(edits) == 1:
            found.append((edits, depth(code, start, call.start()) == 1))
    return found


def built(source: str, code: str, start: int, end: int, types: frozenset[str]) -> Other | None:
    """The edits that put other values into all objects of these types that the function at this place compares with."""
    found: list[Edit] = []
    sure = False
    for call in _ASSERT.finditer(code, start, end):
        compared = arguments(code, call.end())[:2]
        places = [_where_built(code, start, end, place) for place in reversed(compared)]
        edits = next((edits for place in places if (edits := _of_built(source, code, place, types))), [])
        found += edits
        sure = sure or (bool(edits) and depth(code, start, call.start()) == 1)
    return (list(dict.fromkeys(found)), sure) if found else None


def _of_built(source: str, code: str, place: tuple[int, int], types: frozenset[str]) -> list[Edit]:
    head = _HEAD.match(code, *place)
    if head is None or types.isdisjoint(re.split(r"\s*::\s*", head["path"])):
        return []
    return [] if _MORE_THAN_BUILT.search(code, *place) else other_literals(source, code, *place)


def _where_built(code: str, start: int, end: int, place: tuple[int, int]) -> tuple[int, int]:
    """The place itself, or where its name is declared that is used for nothing else."""
    name = code[slice(*place)].strip().removeprefix("&")
    uses = re.findall(rf"\b{name}\b", code[start:end]) if re.fullmatch(r"[a-z_]\w*", name) else []
    declared = re.compile(rf"\blet\s+{name}\s*(?::[^=;]*)?=(?P<value>[^;]*);") if len(uses) == 2 else None
    found = declared.search(code, start, end) if declared is not None else None
    return found.span("value") if found is not None else place
