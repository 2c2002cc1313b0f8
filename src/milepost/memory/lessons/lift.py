"""The lift: how attempts with lessons fared against those that they were held out of, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, lgamma, sqrt

Z = 1.959964  # of 95 %
_AS_RARE = 1 + 1e-7  # two chances that differ by less are the same, but for how they were computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Attempts as (passed, failed) that can be compared: which of them were told something was chance alone."""

    shown: tuple[int, int] = (0, 0)
    held_out: tuple[int, int] = (0, 0)

    @property
    def measured(self) -> bool:
        """Whether there are both to compare."""
        return sum(self.shown) > 0 and sum(self.held_out) > 0

    @property
    def difference(self) -> float:
        return _share(self.shown) - _share(self.held_out)

    @property
    def reach(self) -> tuple[float, float]:
        """How far the true difference may lie below and above: Newcombe's interval, which holds for few attempts."""
        with_it, without = _share(self.shown), _share(self.held_out)
        (low, high), (low_without, high_without) = _wilson(self.shown), _wilson(self.held_out)
        below = sqrt((with_it - low) ** 2 + (high_without - without) ** 2)
        return below, sqrt((high - with_it) ** 2 + (without - low_without) ** 2)

    @property
    def weight(self) -> float:
        """How much it says beside others: that of Mantel and Haenszel."""
        told, not_told = sum(self.shown), sum(self.held_out)
        return told * not_told / (told + not_told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """Judged attempts as (passed, failed): those that were told something, and those that it was held out of.

    Where not all of them can be compared with each other, they are so within `strata`, and what that gives is summed.
    """

    shown: tuple[int, int] = (0, 0)
    held_out: tuple[int, int] = (0, 0)
    strata: tuple[Stratum, ...] = ()

    @classmethod
    def over(cls, strata: Iterable[Stratum]) -> Lift:
        """The lift of attempts that are compared only within strata."""
        found = tuple(strata)
        return cls(
            shown=(sum(one.shown[0] for one in found), sum(one.shown[1] for one in found)),
            held_out=(sum(one.held_out[0] for one in found), sum(one.held_out[1] for one in found)),
            strata=found,
        )

    @property
    def measured(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self._compared())

    @property
    def difference(self) -> float | None:
        """The share that passed with lessons, less the share that passed without; None where one of them is empty."""
        weighed = self._weighed()
        return sum(weight * one.difference for weight, one in weighed) if weighed else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the true difference lies, with 95 % confidence: the strata's intervals, put together by squares."""
        difference, weighed = self.difference, self._weighed()
        if difference is None:
            return None
        reaches = [(weight * below, weight * above) for weight, (below, above) in ((w, s.reach) for w, s in weighed)]
        below = sqrt(sum(one**2 for one, _ in reaches))
        return difference - below, difference + sqrt(sum(one**2 for _, one in reaches))

    @property
    def p_value(self) -> float | None:
        """How often chance alone gives a difference that is at least as rare: an exact test, two-sided.

        It is Fisher's for a single stratum; over several, that of all who passed with lessons, given each stratum's
        sums.
        """
        compared = self._compared()
        if not compared:
            return None
        chances = [1.0]
        least = 0
        for one in compared:
            fewest, of_one = _chances(one)
            chances = _summed(chances, of_one)
            least += fewest
        seen = chances[sum(one.shown[0] for one in compared) - least]
        return min(1.0, sum(chance for chance in chances if chance <= seen * _AS_RARE))

    def _compared(self) -> tuple[Stratum, ...]:
        strata = self.strata or (Stratum(shown=self.shown, held_out=self.held_out),)
        return tuple(one for one in strata if one.measured)

    def _weighed(self) -> list[tuple[float, Stratum]]:
        compared = self._compared()
        total = sum(one.weight for one in compared)
        return [(one.weight / total, one) for one in compared]


def _share(counts: tuple[int, int]) -> float:
    return counts[0] / sum(counts)


def _wilson(counts: tuple[int, int]) -> tuple[float, float]:
    total, share = sum(counts), _share(counts)
    middle = share + Z**2 / (2 * total)
    reach = Z * sqrt(share * (1 - share) / total + Z**2 / (4 * total**2))
    scale = 1 + Z**2 / total
    return (middle - reach) / scale, (middle + reach) / scale


def _chances(stratum: Stratum) -> tuple[int, list[float]]:
    """The fewest that can have passed with lessons, and how likely so many are, and each one more, by chance alone."""
    size, passed = sum(stratum.shown), stratum.shown[0] + stratum.held_out[0]
    total = size + sum(stratum.held_out)
    fewest, all_ways = max(0, size + passed - total), _ways(total, size)
    counts = range(fewest, min(size, passed) + 1)
    return fewest, [exp(_ways(passed, count) + _ways(total - passed, size - count) - all_ways) for count in counts]


def _ways(total: int, chosen: int) -> float:
    """The logarithm of how many ways there are to choose."""
    return lgamma(total + 1) - lgamma(chosen + 1) - lgamma(total - chosen + 1)


def _summed(one: list[float], other: list[float]) -> list[float]:
    """How likely each sum of two counts is."""
    sums = [0.0] * (len(one) + len(other) - 1)
    for number, chance in enumerate(one):
        for further, beside in enumerate(other):
            sums[number + further] += chance * beside
    return sums
