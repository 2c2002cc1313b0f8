"""What people said to a run while it was on, read from its events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.events import Event, GateAnswer, GateAnswered, Steered, TaskFinished
from milepost.core.verdict import Verdict
from milepost.engine.records.steering import Halt, as_answered, ended_tasks, halt_of, is_added, is_set_aside

PAUSED, FINISHING, GOES_ON = "paused: nothing new begins", "stops when what is at work has ended", "goes on"


def steered(what: str, task: str = "") -> Steered:
    return Steered(run="r", task=task, what=what)


def finished(task: str, reason: str = "") -> TaskFinished:
    return TaskFinished(
        run="r",
        task=task,
        title="",
        agent="",
        verdict=None,
        commit=None,
        attempts=0,
        reason=reason,
        checks=0,
        tests=0,
        duration_ms=0,
        cost_usd=0.0,
    )


@pytest.mark.parametrize(
    ("said", "halt"),
    [
        ((), ""),
        ((PAUSED,), "paused"),
        ((FINISHING,), "finishing"),
        ((PAUSED, GOES_ON), ""),
        ((PAUSED, FINISHING), "finishing"),
        ((FINISHING, PAUSED), "paused"),
        ((PAUSED, GOES_ON, PAUSED), "paused"),
        ((PAUSED, "added: 1.1 Write it", "a note: paused: no"), "paused"),
        (("goes on with 1.1", "the run is paused: no"), ""),
        ((PAUSED, "goes on with 1.1"), "paused"),
    ],
)
def test_the_last_word_about_a_halt_counts(said: tuple[str, ...], halt: Halt) -> None:
    assert halt_of(said) == halt


@pytest.mark.parametrize(
    ("answer", "text", "verdict", "reason"),
    [
        ("reject", "the price stays", None, "refused by a person: the price stays"),
        ("skip", "", None, "skipped by a person"),
        ("approve", "", Verdict.HELD, "is it?"),
    ],
)
def test_held_work_that_a_person_said_no_to_is_asked_about_no_more(
    answer: GateAnswer, text: str, verdict: Verdict | None, reason: str
) -> None:
    held = replace(finished("1.1", "is it?"), verdict=Verdict.HELD)
    said = GateAnswered(run="r", task="1.1", gate="1.1/1/held", answer=answer, text=text)

    found = as_answered(held, [said])

    assert (found.verdict, found.reason) == (verdict, reason)
    assert is_set_aside(found.verdict, found.reason) is (verdict is None)
    assert as_answered(held, [replace(said, task="1.2")]) == held
    assert as_answered(held, [replace(said, gate="1.1/before")]) == held


@pytest.mark.parametrize(
    ("event", "added"),
    [
        (steered("added: Write it", "1.1"), True),
        (steered("added: Write it"), False),
        (steered("dropped", "1.1"), False),
        (steered("was added: Write it", "1.1"), False),
        (finished("1.1", "added: no"), False),
    ],
)
def test_a_task_is_added_by_a_word_about_it(event: Event, added: bool) -> None:
    assert is_added(event) == added


@pytest.mark.parametrize(
    ("verdict", "reason", "aside"),
    [
        (None, "refused by a person: not now", True),
        (None, "skipped by a person", True),
        (None, "dropped", True),
        (None, "the budget is spent", False),
        (None, "", False),
        (None, "it was refused by a person", False),
        (Verdict.PASSED, "dropped", False),
    ],
)
def test_a_task_is_set_aside_where_a_person_said_no_before_it_was_tried(
    verdict: Verdict | None, reason: str, aside: bool
) -> None:
    assert is_set_aside(verdict, reason) == aside


def test_a_task_has_ended_as_it_ended_last_unless_it_came_back() -> None:
    dropped, back, again = finished("1.1", "dropped"), steered("added: Write it", "1.1"), finished("1.1", "again")
    other = finished("1.2")

    assert ended_tasks([]) == {}
    assert ended_tasks([dropped, other]) == {"1.1": dropped, "1.2": other}
    assert ended_tasks([dropped, other, back]) == {"1.2": other}
    assert ended_tasks([dropped, back, again]) == {"1.1": again}
    assert ended_tasks([back]) == {}
    assert ended_tasks([dropped, steered("a note", "1.1")]) == {"1.1": dropped}
