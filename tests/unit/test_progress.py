"""How a run gets on, by what is written down of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.cli.show_status import status_lines, status_to_json
from milepost.core.budget import Budget, Spent
from milepost.core.events import (
    AgentSaid,
    AttemptFinished,
    BudgetReached,
    Event,
    ForecastMade,
    GateAnswered,
    GateOpened,
    RunStarted,
    StageStarted,
    TaskFinished,
)
from milepost.core.task import Plan, Task
from milepost.core.verdict import Verdict
from milepost.engine.journal import Entry
from milepost.engine.look import Status
from milepost.engine.progress import Progress, progress_of

RUN = "7f3a"
STARTED = RunStarted(
    run=RUN,
    branch="milepost/7f3a",
    base="1" * 40,
    base_name="main",
    ahead="",
    agent="tool",
    trust="isolated",
    parallel=2,
    tasks=("1.1", "1.2", "1.3", "1.4"),
)
FORECAST = ForecastMade(
    run=RUN,
    tasks=4,
    similar=11,
    usd_low=0.2,
    usd=0.4,
    usd_high=0.9,
    seconds_low=200,
    seconds=400,
    seconds_high=900,
)


def task(name: str, *waits: str, done: bool = False) -> Task:
    return Task(id=name, title=f"Task {name}", status="done" if done else "open", line=1, depends_on=waits)


PLAN = Plan(
    tasks=(task("0.9", done=True), task("1.1"), task("1.2", "1.1"), task("1.3", "1.2"), task("1.4", "0.9")),
    waves=(("1.1", "1.4"), ("1.2",), ("1.3",)),
)


def stage(name: str, attempt: int = 1) -> StageStarted:
    return StageStarted(run=RUN, task=name, title=f"Task {name}", attempt=attempt, stage="act")


def finished(name: str, verdict: Verdict | None = Verdict.PASSED, attempts: int = 1) -> TaskFinished:
    return TaskFinished(
        run=RUN,
        task=name,
        title=f"Task {name}",
        agent="tool",
        verdict=verdict,
        commit=None,
        attempts=attempts,
        reason="",
        checks=1,
        tests=1,
        duration_ms=60_000,
        cost_usd=0.2,
    )


def gate(name: str) -> GateOpened:
    return GateOpened(
        run=RUN, task=name, gate=f"{name}/before", kind="before", question="May it begin?", shown="", digest=""
    )


def entries(*events: Event) -> tuple[Entry, ...]:
    return tuple(Entry(seq=place, at=1000.0 + place, event=event) for place, event in enumerate(events))


def progress(*events: Event, worked_s: float = 200, spent: Spent = Spent(), over: bool = False) -> Progress:  # noqa: B008
    return progress_of(entries(*events), PLAN, worked_s=worked_s, spent=spent, budget=Budget(usd=5), over=over)


def test_every_task_is_done_at_work_blocked_waiting_or_to_do() -> None:
    found = progress(STARTED, stage("1.1"), AgentSaid(run=RUN, task="1.1", attempt=1, text="I look"), gate("1.4"))
    assert [(one.stage.task, one.since, one.said) for one in found.in_work] == [("1.1", 1001.0, "I look")]
    assert [(one.task, one.by, one.lost) for one in found.blocked] == [("1.2", "1.1", False), ("1.3", "1.2", False)]
    assert [(one.kind, one.task, one.gate) for one in found.waiting] == [("person", "1.4", "1.4/before")]
    assert (found.asked, found.passed, found.to_do) == (4, (), ())
    assert (found.roadmap_tasks, found.roadmap_done) == (5, 1)


def test_what_a_lost_task_holds_up_is_lost_too_and_not_waited_for() -> None:
    found = progress(STARTED, stage("1.1"), finished("1.1", Verdict.FAILED), stage("1.4"))
    assert [(one.task, one.by, one.lost) for one in found.blocked] == [("1.2", "1.1", True), ("1.3", "1.2", True)]
    assert found.lost == ("1.1",)
    assert found.left_s == 200, "one task is left, and one took as long"


def test_the_end_is_estimated_from_what_tasks_took_and_what_was_foretold() -> None:
    assert progress(STARTED, stage("1.1")).left_s is None
    foretold = progress(STARTED, FORECAST, stage("1.1"), worked_s=10)
    assert (foretold.left_s, foretold.velocity) == (400, None)
    assert foretold.behind_s == 10
    half = progress(STARTED, FORECAST, finished("1.1"), finished("1.2"), worked_s=400, spent=Spent(usd=0.4))
    assert half.velocity == pytest.approx(18)
    assert half.left_s == pytest.approx(2 * (400 + 2 * 100) / 4)
    assert half.behind_s == pytest.approx(300)
    assert half.usd_at_end == pytest.approx(0.4 + 2 * (0.4 + 2 * 0.1) / 4)
    assert half.over_usd == pytest.approx(0.3)


def test_an_answered_gate_an_attempt_after_a_limit_and_new_work_after_a_wall_are_not_waited_for() -> None:
    limited = AttemptFinished(
        run=RUN,
        task="1.1",
        attempt=1,
        agent="tool",
        verdict=Verdict.FAILED,
        reason="the agent's service is at its limit: try again in 60 s",
        commit="",
        duration_ms=1,
        cost_usd=0,
    )
    wall = BudgetReached(run=RUN, task="1.4", scope="run", message="$5.00 is spent of $5.00")
    waits = progress(STARTED, gate("1.4"), stage("1.1"), limited, wall)
    assert [one.kind for one in waits.waiting] == ["person", "service", "budget"]
    assert not waits.in_work, "a task that waits is not at work"
    answered = GateAnswered(run=RUN, task="1.4", gate="1.4/before", answer="approve")
    goes_on = progress(STARTED, gate("1.4"), stage("1.1"), limited, wall, answered, stage("1.1", 2))
    assert goes_on.waiting == ()
    assert [one.stage.attempt for one in goes_on.in_work] == [2]


def test_a_run_that_is_over_has_nothing_left() -> None:
    found = progress(STARTED, FORECAST, stage("1.1"), finished("1.1"), over=True)
    assert (found.in_work, found.blocked, found.to_do, found.left_s) == ((), (), (), 0.0)


def test_tasks_that_came_to_the_run_later_count() -> None:
    assert progress(STARTED, stage("1.1.a")).asked == 5


def test_status_says_what_is_waited_for_how_long_and_how_dear() -> None:
    wall = BudgetReached(run=RUN, task="", scope="run", message="$4.90 is spent\x1b[2J of $5.00")
    told = entries(STARTED, FORECAST, finished("1.1"), stage("1.4"), gate("1.2"), wall)
    found = progress_of(
        told, PLAN, worked_s=600, spent=Spent(usd=4.9, held_usd=0.05, attempts=3), budget=Budget(usd=5, seconds=3600)
    )
    status = Status(run=RUN, started_at=0, holder=None, entries=told, summary=None, left=False, progress=found)
    text = "\n".join(status_lines(status, 120))
    assert "  waits   1.2  for you: May it begin?" in text
    assert "  waits   for budget: $4.90 is spent[2J of $5.00" in text
    assert "  blocked 1.3  by 1.2" in text
    assert "tasks  1 of 4 done · 1 in work · 1 waiting for you · 1 blocked · whole roadmap 1 of 5" in text
    assert "time   10 min of 1 h 00 min at work · 6 tasks an hour · about 13 min left" in text
    assert "cost   $4.90 of $5.00 · $0.05 held for calls without an answer" in text
    assert "next   milepost gates" in text
    alone = replace(status, progress=replace(found, waiting=tuple(one for one in found.waiting if not one.task)))
    assert "next   milepost resume --budget 10" in status_lines(alone, 120)[-1]
    assert status_to_json(status)["progress"]["forecast"]["usd"] == 0.4
