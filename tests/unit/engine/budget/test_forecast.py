"""What tasks will take, from what similar ones took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.memories import Took
from milepost.core.task import Plan, Task
from milepost.core.verdict import Verdict
from milepost.engine.budget.forecast import Forecast, ForecastInputs, forecast_of

FACTS = ForecastInputs(agent="tool", parallel=2)


def plan_of(*tasks: Task) -> Plan:
    return Plan(tasks=tasks, waves=(tuple(task.id for task in tasks),))


def task(name: str, title: str = "Parse durations", **more: object) -> Task:
    return replace(Task(id=name, title=title, status="open", line=1), **more)  # type: ignore[arg-type]


def episode(run: str, title: str = "Parse durations", **more: object) -> Took:
    usual = Took(
        run=run,
        task="1.1",
        title=title,
        attempt=1,
        agent="tool",
        verdict=Verdict.PASSED,
        duration_ms=60_000,
        cost_usd=0.10,
    )
    return replace(usual, **more)  # type: ignore[arg-type]


def foreseen(plan: Plan, episodes: list[Took], facts: ForecastInputs = FACTS) -> Forecast:
    found = forecast_of(plan, [task.id for task in plan.tasks], facts, episodes)
    assert found is not None
    return found


def test_nothing_is_foretold_from_nothing() -> None:
    assert forecast_of(plan_of(task("1.1")), ["1.1"], FACTS, []) is None
    others = [episode("a", agent="command:x"), episode("b", cost_usd=float("nan")), episode("c", duration_ms=-1)]
    assert forecast_of(plan_of(task("1.1")), ["1.1"], FACTS, others) is None
    assert forecast_of(plan_of(task("1.1")), [], FACTS, [episode("a")]) is None


def test_a_task_takes_what_its_like_took_over_all_attempts() -> None:
    tries = [episode(run, attempt=attempt) for run in "abcdefghij" for attempt in (1, 2)]
    found = foreseen(plan_of(task("1.1"), task("1.2")), tries)
    assert (found.tasks, found.foreseen, found.similar) == (2, 2, 20)
    assert found.usd == pytest.approx(0.40, rel=0.1)
    assert found.seconds == pytest.approx(120, rel=0.1)
    assert found.usd_low <= found.usd <= found.usd_high
    assert found == foreseen(plan_of(task("1.1"), task("1.2")), tries), "the same question, the same answer"


def test_few_trials_and_faint_likeness_make_the_bounds_wider() -> None:
    plan = plan_of(task("1.1"))
    one = foreseen(plan, [episode("a")])
    many = foreseen(plan, [episode(f"run{number}") for number in range(30)])
    faint = foreseen(plan, [episode("a", title="Draw a logo")])
    width = [found.usd_high - found.usd_low for found in (many, one, faint)]
    assert width == sorted(width)
    assert width[0] > 0
    assert one.usd_high > 2 * one.usd_low


def test_the_same_title_goes_before_words_in_common_before_the_agent_alone() -> None:
    known = [
        episode("a", cost_usd=0.1),
        episode("b", title="Parse durations quickly", cost_usd=1.0),
        episode("c", title="Draw a logo", cost_usd=10.0),
    ]
    assert foreseen(plan_of(task("1.1")), known).similar == 1
    assert foreseen(plan_of(task("1.1", "Parse durations slowly")), known).usd < 3
    assert foreseen(plan_of(task("1.1", "Something else")), known).similar == 3


def test_the_time_is_that_of_so_many_at_once_each_after_what_it_waits_for() -> None:
    known = [episode(f"run{number}") for number in range(40)]
    apart = [task(f"1.{number}") for number in range(4)]
    chain = [task(f"1.{number}", depends_on=(f"1.{number - 1}",)) for number in range(4)]
    same_file = [task(f"1.{number}", files=("a.py",)) for number in range(4)]
    assert foreseen(plan_of(*apart), known).seconds == pytest.approx(120, rel=0.1)
    assert foreseen(plan_of(*apart), known, ForecastInputs(agent="tool", parallel=4)).seconds == pytest.approx(
        60, rel=0.1
    )
    assert foreseen(plan_of(*chain), known).seconds == pytest.approx(240, rel=0.1)
    assert foreseen(plan_of(*same_file), known).seconds == pytest.approx(240, rel=0.1)


def test_tasks_of_an_agent_that_never_worked_here_are_left_out_and_told() -> None:
    plan = plan_of(task("1.1"), task("1.2", agent="command:new"))
    found = foreseen(plan, [episode("a"), episode("a", attempt=2, agent="recipe:lint", cost_usd=0.0)])
    assert (found.tasks, found.foreseen, found.similar) == (2, 1, 1)


def test_a_thousand_tasks_are_foretold_too() -> None:
    tasks = [task(f"1.{number}", f"Task {number}") for number in range(1000)]
    found = foreseen(plan_of(*tasks), [episode(f"run{number}") for number in range(50)])
    assert found.usd == pytest.approx(100, rel=0.3)
