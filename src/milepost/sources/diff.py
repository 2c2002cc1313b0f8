"""Which lines of a text are new, in a time that no text can make long. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.same_lines import compare

_MOST_PAIRS = 250_000


def added_lines(before: str, after: str) -> frozenset[int]:
    """The numbers, from 1, of the lines of `after` that are not in `before`."""
    stretches = compare(before.splitlines(), after.splitlines(), _MOST_PAIRS)
    changed = (range(stretch.new, stretch.new_end) for stretch in stretches if not stretch.same)
    return frozenset(number + 1 for lines in changed for number in lines)


def common_start(*versions: Sequence[str]) -> int:
    """How many lines all versions begin with."""
    rows = enumerate(zip(*versions, strict=False))
    return next((number for number, row in rows if len(set(row)) > 1), min(map(len, versions)))
