"""The difference that lessons make, and how sure it is."""

from __future__ import annotations

import pytest

from milepost.memory.lift import Lift

# The published measurement: 16 of 24 with lessons, none of 24 without. The intervals are Newcombe's own example 56/70
# against 48/80, and two ends where a simpler formula breaks down.
CASES = [
    ((16, 8), (0, 24), 0.6667, (0.4240, 0.8203), 6.52e-07),
    ((56, 14), (48, 32), 0.2, (0.0524, 0.3339), 0.0125),
    ((10, 0), (10, 0), 0.0, (-0.2775, 0.2775), 1.0),
    ((3, 1), (1, 3), 0.5, (-0.1355, 0.7891), 0.4857),  # the lady tasting tea
    ((3, 0), (0, 3), 1.0, (0.2057, 1.0), 0.1),
]


@pytest.mark.parametrize(("shown", "held_out", "difference", "interval", "p_value"), CASES)
def test_the_difference_comes_with_its_interval_and_an_exact_test(
    shown: tuple[int, int],
    held_out: tuple[int, int],
    difference: float,
    interval: tuple[float, float],
    p_value: float,
) -> None:
    lift = Lift(shown=shown, held_out=held_out)
    assert lift.difference == pytest.approx(difference, abs=1e-4)
    assert lift.interval == pytest.approx(interval, abs=2e-3)
    assert lift.p_value == pytest.approx(p_value, rel=0.05)


@pytest.mark.parametrize("counts", [((0, 0), (3, 1)), ((3, 1), (0, 0)), ((0, 0), (0, 0))])
def test_nothing_is_claimed_where_there_is_nothing_to_compare(counts: tuple[tuple[int, int], tuple[int, int]]) -> None:
    lift = Lift(shown=counts[0], held_out=counts[1])
    assert (lift.difference, lift.interval, lift.p_value) == (None, None, None)
