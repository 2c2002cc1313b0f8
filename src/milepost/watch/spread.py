"""Percentiles, by a sketch that is exact to one percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ddsketch import DDSketch

Buckets = tuple[tuple[float, int], ...]
"""Answers by their time: upper bound in milliseconds, and how many so far were not above it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How values are distributed."""

    p50: float
    p95: float
    p99: float


def spread_of(values: Iterable[float]) -> Spread | None:
    """The percentiles of values; None without any."""
    sketch = DDSketch()
    for value in values:
        sketch.add(value)
    return _read(sketch)


def spread_between(before: Buckets, after: Buckets) -> Spread | None:
    """The percentiles of what was counted between two looks; None where nothing was. Counters may have begun anew."""
    earlier: Mapping[float, int] = dict(before)
    grown = [(bound, count - earlier.get(bound, 0)) for bound, count in after]
    if any(count < 0 for _, count in grown):
        grown = list(after)
    sketch, low, counted = DDSketch(), 0.0, 0
    for bound, so_far in grown:
        middle = low if bound == float("inf") else (low + bound) / 2
        if so_far > counted:
            sketch.add(middle, so_far - counted)
        low, counted = bound, max(counted, so_far)
    return _read(sketch)


def _read(sketch: DDSketch) -> Spread | None:
    p50, p95, p99 = (sketch.get_quantile_value(share) for share in (0.5, 0.95, 0.99))
    if p50 is None or p95 is None or p99 is None:
        return None
    return Spread(p50=p50, p95=p95, p99=p99)
