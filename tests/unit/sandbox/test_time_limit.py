"""The alarm: something happens when a time has come, and does not when it is no longer needed."""

from __future__ import annotations

import threading

from milepost.sandbox.time_limit import Alarm


def test_it_rings_once_the_time_has_come_and_again_the_next_time() -> None:
    alarm = Alarm()
    for _ in range(2):
        rang = threading.Event()
        with alarm.set(0.01, rang.set):
            assert rang.wait(60)
    alarm.close()


def test_it_is_silent_for_what_was_over_in_time() -> None:
    alarm = Alarm()
    rang: list[str] = []
    with alarm.set(3600, lambda: rang.append("early")):
        pass
    last = threading.Event()
    with alarm.set(0.01, last.set):  # sooner than the one before it
        assert last.wait(60)
    alarm.close()
    assert rang == []


def test_closing_one_that_was_never_set_ends_nothing() -> None:
    Alarm().close()
