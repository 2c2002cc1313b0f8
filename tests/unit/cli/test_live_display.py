"""What stays on the screen of a run: one line a task, aligned and whole, and nothing twice."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from milepost.cli.live_display import LiveDisplay, header, task_line
from milepost.core.events import AgentSaid, RunStarted, TaskFinished
from milepost.core.verdict import Verdict

DONE = TaskFinished(
    run="r",
    task="1.1",
    title="Parse durations such as 1h30m and say so in the README",
    agent="command:x",
    verdict=Verdict.PASSED,
    commit="0123456789",
    attempts=1,
    reason="by its own tests: a",
    checks=9,
    tests=12,
    duration_ms=61_000,
    cost_usd=0.0,
)


def test_a_long_id_takes_from_the_title_and_not_from_the_commit() -> None:
    short, long = task_line(DONE, 80), task_line(replace(DONE, task="parse-durations-x7"), 80)

    assert short.endswith("0123456") and long.endswith("0123456")
    assert short.index("command") == long.index("command")


def test_that_its_own_tests_decide_is_said_whole_or_not_at_all() -> None:
    assert task_line(DONE, 120).endswith("0123456 by its own tests")
    assert task_line(DONE, 80).endswith("0123456")


def test_what_is_true_of_all_tasks_is_told_once() -> None:
    screen = StringIO()
    display = LiveDisplay(Console(file=screen, width=80))
    red = AgentSaid(run="r", task="1.1", attempt=1, text="the base is red: 1 test fails of 2", by_engine=True)

    for said in (red, replace(red, task="1.2"), replace(red, task="1.3", text="the base is red: 2 tests fail of 2")):
        display(said)

    assert screen.getvalue().count("1 test fails of 2") == 1
    assert screen.getvalue().count("2 tests fail of 2") == 1


def test_the_first_line_of_a_run_names_what_it_builds_on() -> None:
    started = RunStarted(
        run="7f3a",
        branch="milepost/7f3a",
        base="0" * 40,
        base_name="main",
        ahead="milepost/1234",
        agent="command:x",
        trust="sandboxed",
        parallel=2,
        tasks=("1.1",),
    )

    assert " from milepost/1234 0000000, not yet merged into main · agent command:x · " in header(started)
