from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from milepost.core.events import Event, RunFinished, TaskSummary
from milepost.core.verdict import Verdict
from milepost.engine.records.journal import event_to_json

FILLED: dict[str, Any] = {
    "str": "x",
    "int": 1,
    "float": 0.5,
    "bool": True,
    "tuple[str, ...]": ("1.1",),
    "tuple[int, ...]": (0, 2),
    "str | None": None,
    "int | None": None,
    "RunBy": "milepost",
    "Verdict": Verdict.FAILED,
    "Verdict | None": None,
    "CheckOutcome": "absent",
    "Stage": "act",
    "GateKind": "after",
    "GateAnswer": "reject",
    "SignalKind": "uncertain",
    "tuple[TaskSummary, ...]": (
        TaskSummary(id="1.1", title="T", verdict=None, commit=None, attempts=0, reason="waits for 1.0"),
    ),
}


def filled(kind: type[Any]) -> Any:
    assert is_dataclass(kind)
    return kind(**{field.name: FILLED[str(field.type)] for field in fields(kind) if field.name != "event"})


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_comes_back_from_the_wire_as_it_went(kind: type[Any]) -> None:
    event = filled(kind)
    wire = json.dumps(event_to_json(event))
    assert next(iter(json.loads(wire))) == "event", "the kind comes first"
    assert TypeAdapter(Event).validate_json(wire) == event


def test_the_summary_of_a_run_keeps_the_shape_that_others_read() -> None:
    finished = filled(RunFinished)
    plain = event_to_json(finished)
    assert {"event", "run", "branch", "tasks", "cost_usd"} <= plain.keys()
    assert plain["event"] == "run_finished"
    (task,) = plain["tasks"]
    told = {"id": "1.1", "title": "T", "verdict": None, "commit": None, "attempts": 0, "reason": "waits for 1.0"}
    assert task == {**told, "proposal": ""}


@pytest.mark.parametrize(
    ("verdicts", "passed"),
    [
        ([Verdict.PASSED, Verdict.PASSED], True),
        ([Verdict.PASSED, Verdict.UNVERIFIED], False),
        ([Verdict.PASSED, None], False),
        ([Verdict.FAILED], False),
    ],
)
def test_a_run_passed_when_every_task_asked_for_did(verdicts: list[Verdict | None], passed: bool) -> None:
    tasks = tuple(
        TaskSummary(id="1", title="T", verdict=verdict, commit=None, attempts=1, reason="") for verdict in verdicts
    )
    finished: RunFinished = filled(RunFinished)
    rest = {field.name: getattr(finished, field.name) for field in fields(finished) if field.name != "tasks"}
    assert RunFinished(**rest, tasks=tasks).passed is passed
