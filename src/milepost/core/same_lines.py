"""Which lines of two texts are the same, in a time that no text can make long. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from operator import eq
from typing import Final

MOST_PAIRS: Final = 40_000  # of lines in one gap that are held against each other: 200 lines with 200
_GAPS: Final = 10  # so many gaps of that size are compared in all

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Lines `old` to `old_end` of one text beside lines `new` to `new_end` of the other: all the same, or none."""

    same: bool
    old: int
    old_end: int
    new: int
    new_end: int


def compare(old: Sequence[str], new: Sequence[str], most_pairs: int = MOST_PAIRS) -> tuple[Stretch, ...]:
    """Both texts from beginning to end, in stretches that are the same and stretches that are not.

    Lines that both texts have once hold them together; the gaps between those are compared line by line as long as
    that is quick, and count as written anew where it is not: from `most_pairs` of lines on.
    """
    pairs: list[Pair] = []
    left, at = _GAPS * most_pairs, (0, 0)
    for pin in (*_pins(old, new), (len(old), len(new))):
        before, after = old[at[0] : pin[0]], new[at[1] : pin[1]]
        wanted = len(before) * len(after)
        is_quick = wanted <= min(most_pairs, left)
        found = _alike(before, after, line_by_line=is_quick)
        left -= wanted if is_quick else 0
        pairs += [(at[0] + old_at, at[1] + new_at) for old_at, new_at in found]
        at = pin
    return tuple(_stretches(pairs, len(old), len(new)))


def _pins(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """The longest chain of lines that each text has once, in the order in which both have them."""
    old_counts, new_counts = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(new) if new_counts[line] == 1}
    both = [(at, places[line]) for at, line in enumerate(old) if old_counts[line] == 1 and line in places]
    ends: list[int] = []  # where in `new` the chains of each length end, as early as can be
    enders: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(both):
        length = bisect_left(ends, place)
        before.append(enders[length - 1] if length else -1)
        ends[length : length + 1], enders[length : length + 1] = [place], [number]
    chain: list[Pair] = []
    at = enders[-1] if enders else -1
    while at >= 0:
        chain.append(both[at])
        at = before[at]
    return chain[::-1]


def _alike(old: Sequence[str], new: Sequence[str], *, line_by_line: bool) -> Iterator[Pair]:
    """The lines of a gap that belong together: at its beginning, at its end, and between if there is time for it."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    yield from ((at, at) for at in range(head))
    if line_by_line:
        middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
        for block in middle.get_matching_blocks():
            yield from ((head + block.a + at, head + block.b + at) for at in range(block.size))
    yield from ((len(old) - at, len(new) - at) for at in range(tail, 0, -1))


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same from the beginning on."""
    return sum(1 for _ in takewhile(bool, map(eq, old, new)))


def _stretches(pairs: Sequence[Pair], old_end: int, new_end: int) -> Iterator[Stretch]:
    old = new = 0
    for old_at, new_at, lines in _runs(pairs):
        if (old, new) != (old_at, new_at):
            yield Stretch(same=False, old=old, old_end=old_at, new=new, new_end=new_at)
        old, new = old_at + lines, new_at + lines
        yield Stretch(same=True, old=old_at, old_end=old, new=new_at, new_end=new)
    if (old, new) != (old_end, new_end):
        yield Stretch(same=False, old=old, old_end=old_end, new=new, new_end=new_end)


def _runs(pairs: Sequence[Pair]) -> list[tuple[int, int, int]]:
    """Pairs that follow each other as one: where it begins in both texts, and how many there are."""
    runs: list[tuple[int, int, int]] = []
    for old_at, new_at in pairs:
        if runs and (old_at, new_at) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((old_at, new_at, 1))
    return runs
