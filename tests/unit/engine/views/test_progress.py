"""How a run gets on, by what is written down of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from milepost.cli.costs import cost_lines
from milepost.cli.show.status import status_lines, status_to_json
from milepost.core.budget import Budget, Spent
from milepost.core.errors import MilepostError
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
    Steered,
    TaskFinished,
)
from milepost.core.task import Plan, Task
from milepost.core.verdict import Verdict
from milepost.engine.budget.costs import Costs, Expense
from milepost.engine.project.state_lock import Holder
from milepost.engine.records.journal import Entry
from milepost.engine.records.steering import Kind, Request, Steering, request
from milepost.engine.run.goals import Course, Turn, turned
from milepost.engine.run.run_state import DROPPED
from milepost.engine.views.progress import Progress, progress_of
from milepost.engine.views.status import Status
from milepost.plan import plan
from milepost.plan.options import Planning
from milepost.roadmap import read
from milepost.store.database import open_database

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
        reason="the agent's service cannot be asked now: try again in 60 s",
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
    assert "tasks  1 of 4 done · 1 interrupted · 1 waiting for you · 1 blocked · whole roadmap 1 of 5" in text
    assert "time   10 min of 1 h 00 min of working time · 6 tasks per hour · about 13 min left" in text
    assert "cost   $4.90 of $5.00 · $0.05 reserved for unanswered calls" in text
    assert "next   milepost gates" in text
    alone = replace(status, progress=replace(found, waiting=tuple(one for one in found.waiting if not one.task)))
    assert "next   milepost resume --budget 10" in status_lines(alone, 120)[-1]
    assert status_to_json(status)["progress"]["forecast"]["usd"] == 0.4


def said(kind: Kind, task: str = "", value: str = "") -> tuple[Steered, ...]:
    """What a run says to a request."""
    course = Course(wanted=("1.1", "1.2", "1.3", "1.4"), parallel=2, seen=PLAN)
    request = Request(kind=kind, task=task, value=value)
    turn = turned(
        course, PLAN, request, begun=frozenset(), all_tasks=True, planned=lambda text: plan(read(text.encode()))
    )
    return tuple(Steered(run=RUN, task=name, what=what) for name, what in turn.said)


def shown(*events: Event, running: bool = True, width: int = 100, spent: Spent = Spent()) -> list[str]:  # noqa: B008
    told = entries(*events)
    holder = Holder(pid=7, born="", run=RUN, since=0) if running else None
    found = progress(*events, spent=spent)
    status = Status(run=RUN, started_at=0, holder=holder, entries=told, summary=None, left=False, progress=found)
    return status_lines(status, width)


def test_status_says_that_a_run_is_paused_or_stops_and_how_it_goes_on() -> None:
    paused = shown(STARTED, stage("1.1"), *said("parallel", value="3"), *said("pause"))
    assert paused[0].startswith(f"run {RUN} · paused · ")
    assert "  steered 3 at a time from now on" in paused
    assert paused[-1] == "next   milepost resume"
    asked = shown(STARTED, gate("1.1"), *said("pause"))
    assert asked[-2:] == ["next   milepost resume", "       milepost gates"]
    assert "stops when the running tasks are finished" in shown(STARTED, stage("1.1"), *said("finish"))[0]
    assert "stopped after the running tasks" in shown(STARTED, *said("finish"), running=False)[0]
    goes_on = shown(STARTED, stage("1.1"), *said("pause"), *said("go_on"))
    assert " · running · " in goes_on[0]
    assert goes_on[-1] == "next   milepost stop"
    handed = shown(STARTED, *said("agent", "1.2", "other"))
    assert "  steered 1.2  new attempts are made by other" in handed


def test_what_comes_to_the_roadmap_and_what_goes_from_it_counts() -> None:
    added = said("roadmap", value="".join(f"- [ ] 1.{n} T\n" for n in (1, 2, 3, 4, 5)))
    new = next(one for one in added if one.task == "1.5")
    over = replace(finished("1.4", None, 0), reason=DROPPED, cost_usd=0)
    found = progress(STARTED, gate("1.4"), new, *said("drop", "1.4"), over)
    assert (found.asked, found.to_do, found.set_aside, found.lost) == (5, ("1.1", "1.5"), ("1.4",), ())
    assert not found.waiting, "nobody is asked about a task that is dropped"
    back = progress(STARTED, gate("1.4"), *said("drop", "1.4"), over, replace(new, task="1.4"))
    assert (back.set_aside, back.to_do, back.waiting) == ((), ("1.1", "1.4"), ())
    lines = shown(STARTED, over, replace(new, task="1.4"))
    assert not any(line.startswith(("–", "-")) for line in lines), "it is not over"


def test_a_roadmap_that_cannot_be_read_any_more_leaves_the_run_as_it_was() -> None:
    (told,) = said("roadmap", value="- [ ] 1.1 T\n\0")
    assert told.what.startswith("the edited roadmap cannot be read: ")
    assert told.what.endswith("; continuing with the previous one")


def test_a_note_is_told_under_the_task_that_it_is_for() -> None:
    assert said("note", value="be quick")[0] == Steered(run=RUN, task="", what="note: be quick")
    (told,) = said("note", "1.9", "be quick")
    assert told.what == "is not in this run: no agent will see the note"
    assert steered("note", "1.2", "be quick").said == (("1.2", "note: be quick"),)


@pytest.mark.parametrize("words", ["", " \n", "\x1b\u202e", "x" * 4_001])
def test_a_note_without_words_or_with_too_many_is_refused(words: str) -> None:
    with pytest.raises(MilepostError):
        request("note", value=words)


def test_a_note_loses_what_moves_a_cursor_or_cannot_be_seen() -> None:
    assert request("note", value="  use\r\n\tthe \x1b[2Jparser\u202e\0 ").value == "use\n\tthe [2Jparser"


def test_an_attempt_is_given_the_notes_for_its_task_and_for_all() -> None:
    with closing(open_database(":memory:")) as database:
        book = Steering(database, RUN, lambda: None)
        for task, words in (("", "one"), ("a1", "two"), ("B1", "three")):
            book.ask(request("note", task, words))
        assert book.notes(("A1", "A2")) == ("one", "two")
        for _ in range(30):
            book.ask(request("note", "", "more"))
        assert book.notes(("A1",)) == ("more",) * 20, "the newest are given"
        assert Steering(database, "ffff", lambda: None).notes(("A1",)) == ()


def steered(kind: Kind, task: str, value: str = "", *, begun: tuple[str, ...] = ()) -> Turn:
    """What a request changes for a run of one group, which is led by 1.1."""
    roadmap = read(b"- [ ] 1.1 Fix a\n- [ ] 1.2 Fix b\n- [ ] 1.3 Fix c\n")
    course = Course(wanted=("1.1",), parallel=2, seen=plan(roadmap))
    request = Request(kind=kind, task=task, value=value)
    grouped = plan(roadmap, Planning(grouping="section"))
    return turned(
        course, grouped, request, begun=frozenset(begun), all_tasks=True, planned=lambda text: plan(read(text.encode()))
    )


def test_a_member_of_a_group_is_dropped_before_it_begins_and_not_after() -> None:
    turn = steered("drop", "1.2")
    assert (turn.dropped, turn.course.wanted) == (("1.2",), ("1.1", "1.2"))
    assert (turn.plan.task("1.1").members, turn.plan.task("1.1").title) == (("1.3",), "Fix a; Fix c")
    late = steered("drop", "1.2", begun=("1.1",))
    assert late.said == (("1.2", "has already started with 1.1: milepost stop --now stops it"),)
    assert late.dropped == () and late.plan.task("1.1").members == ("1.2", "1.3")
    first = steered("drop", "1.1")
    assert (first.dropped, first.course.wanted) == (("1.1",), ("1.1", "1.2", "1.3"))
    assert first.plan.waves == (("1.1",), ("1.2", "1.3"))


def test_a_member_of_a_group_is_handed_over_with_all_of_it() -> None:
    turn = steered("agent", "1.2", "other")
    assert turn.said == (("1.2", "is done in one attempt with 1.1, 1.3: new attempts are made by other"),)
    assert [task.agent for task in turn.plan.tasks] == ["other"] * 3


def test_the_no_of_a_person_is_told_in_full_and_waits_for_nobody() -> None:
    why = "we do this next year, when the other system is gone and nobody needs the old numbers any more"
    refused = replace(finished("1.4", None, 0), reason=f"refused by a person: {why}", cost_usd=0)
    lines = shown(STARTED, stage("1.1"), refused, width=80)
    assert next(line for line in lines if "1.4" in line).endswith("  refused by a person")
    assert why in " ".join(line.strip() for line in lines)
    assert any("1 skipped or dropped" in line and "not completed" not in line for line in lines)


def test_a_run_that_is_parked_at_its_gates_waits_for_a_person() -> None:
    assert "waiting for you" in shown(STARTED, gate("1.4"), running=False)[0]
    assert "interrupted" in shown(STARTED, gate("1.4"), stage("1.1"), running=False)[0]


def test_a_rate_is_a_plain_number_and_not_told_before_a_minute() -> None:
    many = [finished(f"2.{place}") for place in range(40)]
    assert progress(STARTED, *many, worked_s=59).velocity is None
    assert any("720 tasks per hour" in line for line in shown(STARTED, *many))
    fast = [finished(f"2.{place}") for place in range(100)]
    assert any(" · 1800 tasks per hour" in line for line in shown(STARTED, *fast))


def test_tokens_without_a_price_are_not_free() -> None:
    spent = Spent(tokens=1200, attempts=1, seconds=90)
    assert any(line.startswith("cost   price unknown · budget $5.00") for line in shown(STARTED, spent=spent))
    one = Expense(task="1.1", model="own", agent="tool", calls=2, input_tokens=1000, output_tokens=200, attempts=1)
    lines = cost_lines(Costs(run=RUN, expenses=(one,), spent=spent, budget=Budget()), 80)
    assert lines[0] == f"run {RUN} · price unknown · 1.2k tokens · 1 attempt · 2 min of working time"
    assert all(line.endswith("unknown") for line in lines if line.startswith(("1.1", "own", "tool")))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_loses_no_fact(width: int) -> None:
    wall = BudgetReached(
        run=RUN, task="", scope="run", message="$4.90 is spent of $5.00, and the next call could cost $0.20"
    )
    lines = shown(
        STARTED, FORECAST, finished("1.1"), stage("1.4"), wall, width=width, spent=Spent(usd=4.9, held_usd=0.1)
    )
    text = " ".join(line.strip() for line in lines)
    assert "the next call could cost $0.20" in text
    assert "more than the forecast of $0.40" in text
    assert "whole roadmap 1 of 5" in text
    spent = Spent(usd=4.9, held_usd=0.1, tokens=1_200_000, attempts=12, seconds=5000)
    costs = cost_lines(Costs(run=RUN, expenses=(), spent=spent, budget=Budget(usd=5, seconds=7200)), width)
    assert " ".join(line.strip() for line in costs).endswith("1 h 23 min of 2 h 00 min of working time")
    assert all(len(line) <= width for line in costs)
