"""Three versions of a text, cut into stretches: what two of them agree on, and what is contested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from milepost.sources.diff import common_start

Lines = tuple[str, ...]
MOST_LINES = 6_000  # between the first and the last that differ
MOST_COMPARISONS = 1_000_000  # of line with line: what is larger, or more alike, would take minutes to tell apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Lines that follow from what at most one side changed, or both in the same way."""

    lines: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested:
    """Lines that both sides changed, each in its own way."""

    base: Lines
    ours: Lines
    theirs: Lines


def stretches(base: Lines, ours: Lines, theirs: Lines) -> tuple[Settled | Contested, ...] | None:
    """The whole text in order, None where it is too large to compare; contested are also changes that touch."""
    before = common_start(base, ours, theirs)
    after = common_start(base[before:][::-1], ours[before:][::-1], theirs[before:][::-1])
    inner = tuple(lines[before : len(lines) - after] for lines in (base, ours, theirs))
    if any(len(lines) > MOST_LINES for lines in inner):
        return None
    if any(_comparisons(inner[0], side) > MOST_COMPARISONS for side in inner[1:]):
        return None
    ends = Settled(lines=base[:before]), Settled(lines=base[len(base) - after :])
    found = (ends[0], *_cut(*inner), ends[1])
    return tuple(one for one in found if isinstance(one, Contested) or one.lines)


def _cut(base: Lines, ours: Lines, theirs: Lines) -> Iterator[Settled | Contested]:
    in_ours, in_theirs = _matches(base, ours), _matches(base, theirs)
    anchors = [(at, in_ours[at], in_theirs[at]) for at in sorted(in_ours.keys() & in_theirs.keys())]
    b = o = t = 0
    for at, at_ours, at_theirs in (*anchors, (len(base), len(ours), len(theirs))):
        if (at, at_ours, at_theirs) != (b, o, t):
            yield _judged(base[b:at], ours[o:at_ours], theirs[t:at_theirs])
        yield Settled(lines=base[at : at + 1])
        b, o, t = at + 1, at_ours + 1, at_theirs + 1


def _judged(base: Lines, ours: Lines, theirs: Lines) -> Settled | Contested:
    if ours in (base, theirs):
        return Settled(lines=theirs)
    if theirs == base:
        return Settled(lines=ours)
    return Contested(base=base, ours=ours, theirs=theirs)


def _matches(base: Lines, side: Lines) -> dict[int, int]:
    """Which line of the base is which of a side."""
    blocks = SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}


def _comparisons(base: Lines, side: Lines) -> int:
    counts = Counter(side)
    return sum(counts[line] for line in base)
