"""What the calls of an attempt cost, and the bound that its agent has for that."""

from __future__ import annotations

import math
from collections.abc import Callable

from milepost.core.calls import Call, Reply
from milepost.core.ports import Logbook


class CostReached(Exception):
    """The next answer could cost more than one attempt of the agent may."""


class Tally:
    """A logbook that counts what the calls cost, and raises before one that could break the bound of its agent.

    What was paid in an earlier life of the attempt counts as well, so that it ends at the same point after a crash.
    """

    def __init__(self, logbook: Logbook, *, agent: str, max_usd: float | None = None) -> None:
        self._logbook = logbook
        self._agent = agent
        self._max_usd = max_usd
        self._cost_usd = 0.0
        self._paid_now_usd = 0.0

    @property
    def session(self) -> str:
        return self._logbook.session

    def note_session(self, session: str) -> None:
        self._logbook.note_session(session)

    def usd_left(self, at_first: float | None) -> float | None:
        """What may still be paid, where the budget left so much when this life began; None without any bound."""
        budget = None if at_first is None else at_first - self._paid_now_usd
        own = None if self._max_usd is None else self._max_usd - self._cost_usd
        return min((left for left in (budget, own) if left is not None), default=None)

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        if call.kind == "model" and self._max_usd is not None and self._cost_usd + call.most.cost_usd > self._max_usd:
            raise CostReached(
                f"stopped before it costs more than ${self._max_usd:.10g}: max_usd of [agents.{self._agent}]"
            )

        def counted() -> Reply:
            reply = make()
            self._paid_now_usd += _cost_of(reply, call)
            return reply

        reply = self._logbook.once(call, counted)
        self._cost_usd += _cost_of(reply, call)
        return reply


def _cost_of(reply: Reply, call: Call) -> float:
    """What a call cost; the most that it could where that is no amount."""
    cost = reply.usage.cost_usd
    return cost if math.isfinite(cost) and cost >= 0 else call.most.cost_usd
