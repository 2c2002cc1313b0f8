"""What a change added, line by line."""

from __future__ import annotations

from difflib import SequenceMatcher

MOST_LINES = 4_000


def added_numbers(before: str | None, after: str | None) -> frozenset[int]:
    """The numbers, from 1, of the lines of a text that were not in it before; none for one too long to compare."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return frozenset()
    if not old:
        return frozenset(range(1, len(new) + 1))
    found: set[int] = set()
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind in ("insert", "replace"):
            found.update(range(start + 1, end + 1))
    return frozenset(found)


def added_text(before: str | None, after: str | None) -> str:
    """The lines of a text that were not in it before."""
    numbers = added_numbers(before, after)
    return "\n".join(line for number, line in enumerate((after or "").splitlines(), 1) if number in numbers)
