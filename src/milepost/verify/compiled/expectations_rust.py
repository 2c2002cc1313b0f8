"""The values that a Rust test expects: what `assert_eq!` compares with."""

from __future__ import annotations

import re

from milepost.verify.compiled.code import arguments, depth
from milepost.verify.compiled.literals import other_value

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
