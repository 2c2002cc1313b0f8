"""What a trace tells: what was done again though it was recorded, and what was in flight at a kill.

The trace is written by store/boundary.py, in all lives of a run: `made NAME` before, `recorded NAME` after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MODEL, TOOL = "model", "tool"
WAITING = ("news", "first_finished")  # steps that only wait: to wait again is not to work again


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """`again` were made though they were recorded; `in_flight` were cut by a kill before that, and begun again."""

    recorded: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    in_flight: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """The questions to a model that were answered."""
        return len(of_kind(self.recorded, MODEL))


def read_trace(text: str) -> Account:
    """The account of a trace. A line that a full disk cut short tells nothing."""
    recorded: dict[str, None] = {}
    open_now: set[str] = set()
    again, in_flight = [], []
    for line in text.split("\n"):
        verb, _, name = line.partition(" ")
        if verb == "recorded":
            recorded[name] = None
            open_now.discard(name)
        elif verb == "made":
            if name in recorded:
                again.append(name)
            elif name in open_now and kind_of(name) not in WAITING:
                in_flight.append(name)
            open_now.add(name)
    return Account(recorded=tuple(recorded), again=tuple(again), in_flight=tuple(in_flight))


def kind_of(name: str) -> str:
    """`model` or `tool` for a call, the stage for a step."""
    return name.rpartition(" ")[2]


def of_kind(names: Iterable[str], kind: str) -> tuple[str, ...]:
    return tuple(name for name in names if kind_of(name) == kind)


def steps(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if kind_of(name) not in (MODEL, TOOL))
