"""The lift: how attempts with lessons fared against those that they were held out of, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, sqrt

Z = 1.959964  # of 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """Verified attempts as (passed, failed): those that were told something, and those that it was held out of."""

    shown: tuple[int, int] = (0, 0)
    held_out: tuple[int, int] = (0, 0)

    @property
    def measured(self) -> bool:
        """Whether there is anything to compare."""
        return sum(self.shown) > 0 and sum(self.held_out) > 0

    @property
    def difference(self) -> float | None:
        """The share that passed with lessons, less the share that passed without; None where one of them is empty."""
        return _share(self.shown) - _share(self.held_out) if self.measured else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the true difference lies, with 95 % confidence: Newcombe's interval, which holds for few attempts."""
        if not self.measured:
            return None
        with_it, without = _share(self.shown), _share(self.held_out)
        (low, high), (low_without, high_without) = _wilson(self.shown), _wilson(self.held_out)
        below = sqrt((with_it - low) ** 2 + (high_without - without) ** 2)
        above = sqrt((high - with_it) ** 2 + (without - low_without) ** 2)
        return with_it - without - below, with_it - without + above

    @property
    def p_value(self) -> float | None:
        """How often chance alone gives a difference that is at least as rare: Fisher's exact test, two-sided."""
        return _fisher(self.shown, self.held_out) if self.measured else None


def _share(counts: tuple[int, int]) -> float:
    return counts[0] / sum(counts)


def _wilson(counts: tuple[int, int]) -> tuple[float, float]:
    total, share = sum(counts), _share(counts)
    middle = share + Z**2 / (2 * total)
    reach = Z * sqrt(share * (1 - share) / total + Z**2 / (4 * total**2))
    scale = 1 + Z**2 / total
    return (middle - reach) / scale, (middle + reach) / scale


def _fisher(one: tuple[int, int], other: tuple[int, int]) -> float:
    size, passed, total = sum(one), one[0] + other[0], sum(one) + sum(other)
    ways = {
        count: comb(passed, count) * comb(total - passed, size - count)
        for count in range(max(0, size + passed - total), min(size, passed) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[one[0]]) / comb(total, size)
