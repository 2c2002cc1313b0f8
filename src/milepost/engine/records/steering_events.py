"""What people said to a run while it was on, as its journal tells it: halted, added, dropped, set aside. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from milepost.core.events import Event, Steered, TaskFinished
from milepost.core.verdict import Verdict

Halt = Literal["", "paused", "finishing"]

_ADDED = "added: "
_NO = ("refused by a person", "skipped by a person", "dropped")


def halt_of(said: Iterable[str]) -> Halt:
    """Whether a run begins nothing new, by all that it was told: the last word counts."""
    halt: Halt = ""
    for what in said:
        if what.startswith("paused: "):
            halt = "paused"
        elif what.startswith("stops when "):
            halt = "finishing"
        elif what == "goes on":
            halt = ""
    return halt


def is_added(event: Event) -> bool:
    """Whether a task came to the run, maybe after it was dropped."""
    return isinstance(event, Steered) and bool(event.task) and event.what.startswith(_ADDED)


def is_set_aside(verdict: Verdict | None, reason: str) -> bool:
    """Whether a person said no to a task that was never tried: it waits for nobody."""
    return verdict is None and reason.startswith(_NO)


def ended_tasks(events: Iterable[Event]) -> dict[str, TaskFinished]:
    """How tasks ended; one that was dropped and came back has not."""
    ended: dict[str, TaskFinished] = {}
    for event in events:
        if isinstance(event, TaskFinished):
            ended[event.task] = event
        elif isinstance(event, Steered) and is_added(event):
            ended.pop(event.task, None)
    return ended
