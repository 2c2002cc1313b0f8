"""Which lines of a text are new, in a time that no text can make long. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

# Pairs of lines: above the first repeated lines count less, above the second nothing is compared.
_SMALL, _HUGE = 4_000_000, 400_000_000


def added_lines(before: str, after: str) -> frozenset[int]:
    """The numbers, from 1, of the lines of `after` that are not in `before`."""
    old, new = before.splitlines(), after.splitlines()
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if len(old) * len(new) > _HUGE:
        return frozenset(range(start + 1, start + len(new) + 1))
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > _SMALL)
    return frozenset(
        start + number + 1
        for tag, _, _, low, high in matcher.get_opcodes()
        if tag in ("insert", "replace")
        for number in range(low, high)
    )


def common_start(*versions: Sequence[str]) -> int:
    """How many lines all versions begin with."""
    rows = enumerate(zip(*versions, strict=False))
    return next((number for number, row in rows if len(set(row)) > 1), min(map(len, versions)))
