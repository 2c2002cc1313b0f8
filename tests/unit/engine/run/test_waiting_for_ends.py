"""Whoever waits for a workflow of its own process asks the database when there may be an end, not over and over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.engine.records.suspend import Suspension
from milepost.engine.run import durable
from milepost.engine.services import RunServices

LOOKS = 4


class Recorded:
    """Ends that are recorded, and which looks at them there were."""

    def __init__(self) -> None:
        self.ends: dict[str, object] = {}
        self.asked: list[int] = []
        self.look = 0

    def first(self, workflow_ids: list[str]) -> Any:
        self.asked.append(self.look)
        ended = [name for name in workflow_ids if name in self.ends]
        return SimpleNamespace(workflow_id=ended[0], output=self.ends[ended[0]]) if ended else None


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    made = Recorded()
    monkeypatch.setattr(durable, "_first_finished", made.first)
    return made


def services(parking: Suspension) -> RunServices:
    return cast(RunServices, SimpleNamespace(parking=parking))


def no_interruption() -> None:
    raise AssertionError("nobody interrupts")


def test_an_end_from_before_a_restart_is_seen_at_once(recorded: Recorded) -> None:
    recorded.ends["r"] = "told"
    assert durable.wait_for("r", services(Suspension()), lambda: None, no_interruption) == "told"


def test_the_database_is_asked_at_first_and_again_only_when_the_workflow_returned(recorded: Recorded) -> None:
    parking = Suspension()

    def look() -> None:
        recorded.look += 1
        if recorded.look == LOOKS:
            with parking.workflow("r"):
                recorded.ends["r"] = "told"

    assert durable.wait_for("r", services(parking), look, no_interruption) == "told"
    assert recorded.asked == [1, LOOKS + 1]
