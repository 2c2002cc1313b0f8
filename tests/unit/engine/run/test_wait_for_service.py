"""How long a run waits for a service: as long as it states, else until its patience is over, and then it parks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.core.attempt import SERVER_SILENT
from milepost.core.errors import MachineFailed
from milepost.engine.run.steps import wait_for_service
from milepost.engine.services import RunServices

DOWN = f"http://127.0.0.1:11434/v1: Connection error.\n{SERVER_SILENT}"


class Clock:
    """A clock that goes on only while somebody waits, for the waiting and for the time of day."""

    def __init__(self) -> None:
        self.now, self.stopping = 1e9, False

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    told = SimpleNamespace(time=lambda: made.now, monotonic=lambda: made.now)
    monkeypatch.setattr("milepost.engine.run.steps.time", told)
    return made


def services(clock: Clock) -> RunServices:
    settings = SimpleNamespace(limits=SimpleNamespace(service_wait_s=100.0))
    return cast("RunServices", SimpleNamespace(settings=settings, parking=clock))


def limited(clock: Clock, wait_s: float, *, stated: bool) -> dict[str, Any]:
    return {"limited": DOWN, "wait_s": wait_s, "at": int(clock.now) - 1, "stated": stated}


def test_a_stated_time_is_waited_for_however_long_it_is_and_costs_no_patience(clock: Clock) -> None:
    begun = clock.now
    assert wait_for_service(services(clock), limited(clock, 18_000, stated=True), 90.0) == 90.0
    assert clock.now - begun == pytest.approx(18_000, abs=2)


def test_a_server_that_stays_away_parks_the_run_with_its_address_when_patience_is_over(clock: Clock) -> None:
    here, waited_s = services(clock), 0.0
    for _ in range(4):
        waited_s = wait_for_service(here, limited(clock, 30, stated=False), waited_s)
    assert waited_s == pytest.approx(120, abs=8)
    with pytest.raises(
        MachineFailed, match=r"does not answer.*http://127\.0\.0\.1:11434/v1: Connection error"
    ) as parked:
        wait_for_service(here, limited(clock, 30, stated=False), waited_s)
    assert "milepost resume" in parked.value.advice


def test_a_wait_that_was_over_before_the_run_was_resumed_is_not_waited_for_again(clock: Clock) -> None:
    wait = limited(clock, 600, stated=True)
    clock.now += 3600  # the machine was off
    begun = clock.now
    wait_for_service(services(clock), wait, 0.0)
    assert clock.now == begun
