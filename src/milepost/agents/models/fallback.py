"""Models that stand in for each other: who is asked next when one of them does not answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer, Conversation, Model
from milepost.core.calls import NOTHING, Usage

FAULT = "fault"  # in the recorded reply of a model that did not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Several models, in the order in which they are asked; told of as the first of them.

    Who asks it without patience of his own gets the first answer that any of them has.
    """

    models: tuple[Model, ...]

    @property
    def name(self) -> str:
        return self.models[0].name

    @property
    def price_known(self) -> bool:
        return all(model.price_known for model in self.models)

    def most(self, conversation: Conversation) -> Usage:
        return max((model.most(conversation) for model in self.models), key=lambda usage: usage.cost_usd)

    def answer(self, conversation: Conversation) -> Answer:
        succession, lost = Succession(self.models), NOTHING
        while True:
            try:
                answer = succession.current.answer(conversation)
                return replace(answer, usage=answer.usage + lost)
            except Fault as fault:
                lost += fault.usage
                succession.move_on(fault)
                if succession.all_failed:
                    raise succession.hope.after(lost) from fault


class Succession:
    """Who of several models is asked in one attempt: the one that answered last, until it fails."""

    def __init__(self, models: tuple[Model, ...]) -> None:
        self._models = models
        self._place = 0
        self._rejected: set[int] = set()
        self._failed: dict[int, Fault] = {}

    @property
    def current(self) -> Model:
        return self._models[self._place]

    @property
    def alone(self) -> bool:
        """True where nobody could stand in."""
        return len(self._models) == 1

    @property
    def all_failed(self) -> bool:
        """True when each of them failed since one of them answered."""
        return set(range(len(self._models))) == self._rejected | self._failed.keys()

    @property
    def hope(self) -> Fault:
        """What ends an attempt at which all failed: the fault that is over first, where any of them will be."""
        passing = [fault for fault in self._failed.values() if fault.kind != "rejected"]
        return min(passing, key=lambda fault: fault.wait_s or 0.0) if passing else list(self._failed.values())[-1]

    def answered(self) -> None:
        """The current one is there: those that only failed for a while may be asked again."""
        self._failed.clear()

    def move_on(self, fault: Fault) -> None:
        """The current one failed: the next is asked; one that rejected is not asked again while others are left."""
        self._failed[self._place] = fault
        if fault.kind == "rejected":
            self._rejected.add(self._place)
        places = [(self._place + step) % len(self._models) for step in range(1, len(self._models) + 1)]
        self._place = next((place for place in places if place not in self._rejected), self._place)

    def begin_again(self) -> None:
        """All failed and were waited for: each may be asked once more."""
        self._failed.clear()


def plain_fault(fault: Fault) -> dict[str, Any]:
    """A fault as a logbook keeps it, without what was taken by it, which is recorded beside it."""
    return {FAULT: fault.kind, "what": fault.what, "wait_s": fault.wait_s}


def fault_in(body: Mapping[str, Any]) -> Fault | None:
    """The fault that was recorded in the place of an answer, if one was."""
    return Fault(body[FAULT], body["what"], body["wait_s"]) if FAULT in body else None
