"""Simulated days: no wrong act, never back and forth, always well or a person called."""

from __future__ import annotations

import os

import pytest

from tests.unit.watch.simulator import simulate

DAYS = 10_000 if os.environ.get("MILEPOST_ALL_TESTS") else 60
FIRST = 50_000


def test_on_no_simulated_day_an_act_is_wrong_a_guard_is_broken_or_somebody_suffers_with_nobody_called() -> None:
    acts = 0
    for seed in range(FIRST, FIRST + DAYS):
        day = simulate(seed)
        assert day.found == [], seed
        acts += day.acts
    assert acts > DAYS / 2  # it does heal


@pytest.mark.parametrize("guard", ["all_at_once", "blame_window"])
def test_without_a_guard_there_are_wrong_acts(guard: str) -> None:
    days = (simulate(seed, without=guard) for seed in range(1, 60))
    assert any(rule == "wrong" for day in days for rule, _ in day.found)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_day_is_the_same_again(seed: int) -> None:
    assert simulate(seed) == simulate(seed)
