"""The figures of the experiment: how many passed, whom the memory helped, whom it harmed, and whether that is luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one task under one condition."""

    task: str
    passed: bool
    attempts: int
    lessons: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One condition against another on the same tasks."""

    helped: int
    harmed: int
    p: float


def compared(without: Mapping[str, Result], having: Mapping[str, Result]) -> Comparison:
    """Tasks that pass only with it, tasks that pass only without it, and an exact test of the two (McNemar's)."""
    both = [(without[name].passed, having[name].passed) for name in without if name in having]
    helped = sum(now and not before for before, now in both)
    harmed = sum(before and not now for before, now in both)
    return Comparison(helped=helped, harmed=harmed, p=sign_test(helped, harmed))


def sign_test(one: int, other: int) -> float:
    """How likely so uneven a split, or a more uneven one, is by chance: two-sided, exact."""
    count, least = one + other, min(one, other)
    tail: float = sum(comb(count, number) for number in range(least + 1)) / 2**count
    return min(1.0, 2 * tail)
