"""What a change added, line by line."""

from __future__ import annotations

from milepost.sources.diff import added_lines

MOST_LINES = 4_000


def added_numbers(before: str | None, after: str | None) -> frozenset[int]:
    """The numbers, from 1, of the lines of a text that were not in it before; none for one too long to learn from."""
    old, new = before or "", after or ""
    if max(len(old.splitlines()), len(new.splitlines())) > MOST_LINES:
        return frozenset()
    return added_lines(old, new)


def added_text(before: str | None, after: str | None) -> str:
    """The lines of a text that were not in it before."""
    numbers = added_numbers(before, after)
    return "\n".join(line for number, line in enumerate((after or "").splitlines(), 1) if number in numbers)
