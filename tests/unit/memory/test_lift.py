"""The difference that lessons make, and how sure it is."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import product

import pytest

from milepost.core.memories import Arm, Episode, EpisodeEnd, EpisodeStart, Showing
from milepost.core.verdict import Verdict
from milepost.memory.lessons import policy
from milepost.memory.lessons.lift import Lift, Stratum
from milepost.memory.memory import StoredMemory
from milepost.memory.store.queries import Catalogue
from milepost.store.database import open_database

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


def test_hard_tasks_that_more_lessons_fit_do_not_make_lessons_look_harmful() -> None:
    draw = random.Random(1)
    counts = {(fit, arm): [0, 0] for fit, arm in product((1, 3), ("shown", "held_out"))}
    for number in range(3_000):
        fit = draw.choice((1, 3))
        arms = {policy.arm_of(f"l{lesson}", f"e{number}", 0.2) for lesson in range(fit)}
        passed = draw.random() < (0.9 if fit == 1 else 0.4)
        counts[fit, "shown" if "shown" in arms else "held_out"][not passed] += 1
    strata = [Stratum(shown=_pair(counts[fit, "shown"]), held_out=_pair(counts[fit, "held_out"])) for fit in (1, 3)]
    lift = Lift.over(strata)
    naive = Lift(shown=lift.shown, held_out=lift.held_out)
    assert naive.p_value is not None and naive.p_value < 1e-6
    assert lift.difference is not None and abs(lift.difference) < 0.05
    assert lift.interval is not None and lift.interval[0] < 0 < lift.interval[1]
    assert lift.p_value is not None and lift.p_value > 0.05


def _pair(counts: list[int]) -> tuple[int, int]:
    return counts[0], counts[1]


def test_the_test_over_strata_is_exact_and_leaves_out_what_cannot_be_compared() -> None:
    tea = Stratum(shown=(3, 1), held_out=(1, 3))
    lift = Lift.over([tea, Stratum(shown=(50, 0)), Stratum(shown=(2, 0), held_out=(0, 2))])
    ways = [[1, 16, 36, 16, 1], [1, 4, 1]]  # how many of 70, and of 6, have 0, 1, … passed with lessons
    chances = [sum(ways[0][a] * ways[1][b] for a in range(5) for b in range(3) if a + b == n) / 420 for n in range(7)]
    assert lift.p_value == pytest.approx(sum(one for one in chances if one <= chances[5]))
    assert lift.difference == pytest.approx((2 * 0.5 + 1 * 1.0) / 3)
    assert lift.shown == (55, 1) and not Lift.over([Stratum(shown=(1, 0)), Stratum(held_out=(0, 1))]).measured


def test_attempts_are_compared_with_those_of_their_project_that_as_many_lessons_fitted() -> None:
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database)
        attempts: tuple[tuple[str, str, tuple[Arm, ...], Verdict], ...] = (
            ("a", "clock", ("shown",), Verdict.PASSED),
            ("b", "clock", ("held_out",), Verdict.FAILED),
            ("c", "clock", ("shown", "held_out"), Verdict.PASSED),
            ("d", "tide", ("held_out",), Verdict.PASSED),
        )
        for name, project, arms, verdict in attempts:
            memory.lessons.show(Showing(lesson=f"l{n}", episode=name, arm=arm) for n, arm in enumerate(arms))
            end = EpisodeEnd(kind="success", ended_at=2.0, verdict=verdict)
            memory.record(Episode(start=EpisodeStart(id=name, project=project, title="t", started_at=1.0), end=end))
        lift = Catalogue(memory.rows).lift()
    assert lift.strata == (
        Stratum(shown=(1, 0), held_out=(0, 1)),
        Stratum(shown=(1, 0)),
        Stratum(held_out=(1, 0)),
    )
    assert (lift.shown, lift.held_out, lift.difference) == ((2, 0), (1, 1), 1.0)
