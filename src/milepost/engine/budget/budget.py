"""The wallet of a run: nothing is begun, and no call is made, that could break the wall around it or its tasks.

What a call could take at most is reserved before it is made and settled with what it took. All threads and machines
of a run reserve one after the other, so they cannot break a wall together. What was reserved by a process that died
stays held until the call is made again or the attempt ends: the call may have been paid for.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from milepost.core.budget import (
    UNBOUNDED,
    Allowance,
    Budget,
    OverBudget,
    Scope,
    Spent,
    left,
    refuse_attempt,
    refuse_call,
)
from milepost.core.calls import NOTHING, Usage
from milepost.core.errors import BudgetSpent
from milepost.core.task import Task
from milepost.engine.records.spending import ATTEMPT, Payer, Spending
from milepost.engine.records.suspend import Suspended
from milepost.store.database import Database

PATIENCE_S = 900.0  # how long a call waits while others hold what it needs: longer than a model thinks
PAUSE_S = 0.1
BEAT_S = 1.0
_ASKED_BY_CALL = ("usd", "tokens")  # an attempt that goes on is stopped by these at its next call, not before

T = TypeVar("T")


class RunBudget:
    """Pays for a run within its budget. Opening one begins a life of the run: from then on its clock runs."""

    def __init__(
        self,
        database: Database,
        run: str,
        budget: Budget,
        *,
        patience_s: float = PATIENCE_S,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.run, self.budget = run, budget
        self.spending = Spending(database)
        self.patience_s, self.stopping = patience_s, stopping
        self._database = database
        self._life = secrets.token_hex(8)
        self._worked_before = self.spending.begin_life(run, self._life)
        self._opened = self._seen = time.monotonic()

    def open(self, task: Task, attempt: int, agent: str) -> AttemptBudget:
        """The purse of an attempt that begins or goes on; raises BudgetSpent when it may not."""
        purse = AttemptBudget(self, Payer(run=self.run, task=task.id, attempt=attempt, agent=agent), task.budget)

        def begin() -> OverBudget | None:
            goes_on = self.spending.has_begun(purse.payer)
            for one in purse.standings(ATTEMPT):
                refusal = refuse_attempt(one.allowed, one.spent, one.scope, task.id)
                if refusal is not None and not (goes_on and refusal.wall in _ASKED_BY_CALL):
                    return refusal
            self.spending.reserve(purse.payer, ATTEMPT, "", Usage())
            return None

        if (refusal := self.in_turn(begin)) is not None:
            raise _broken(refusal)
        return purse

    def purse(self, task: Task, attempt: int, agent: str, *, first: int) -> AttemptBudget:
        """A purse for calls beside those of an attempt's agent, which are counted from `first` on."""
        return AttemptBudget(self, Payer(run=self.run, task=task.id, attempt=attempt, agent=agent), task.budget, first)

    def spent(self) -> Spent:
        """What the run has taken so far."""
        return replace(self.spending.totals(self.run), seconds=self.seconds())

    def see(self) -> None:
        """Note now and then that this process is still at work: a kill must not give back the time that was worked."""
        if time.monotonic() - self._seen >= BEAT_S:
            self._seen = time.monotonic()
            self.spending.see_life(self.run, self._life)

    def seconds(self) -> float:
        """How long the run has been at work, over all its lives."""
        return self._worked_before + time.monotonic() - self._opened

    def in_turn(self, act: Callable[[], T]) -> T:
        """What comes of `act` while nobody else, on any machine, decides by what this run has spent."""
        return self._database.together(f"wallet/{self.run}", act)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStatus:
    """How the run, or the task, stands to its wall."""

    scope: Scope
    allowed: Allowance
    spent: Spent


class AttemptBudget:
    """Pays for the calls of one attempt. Without `close` it is as if the process had died."""

    def __init__(self, wallet: RunBudget, payer: Payer, own: Allowance, first: int = 0) -> None:
        self.payer = payer
        self._first = first
        self._wallet, self._spending = wallet, wallet.spending
        self._allowed = wallet.budget.of_task(own)
        self._worked_before = self._written_down = self._spending.seconds_of(payer)
        self._opened = time.monotonic()
        self._most: dict[int, Usage] = {}

    def reserve(self, number: int, model: str, most: Usage) -> None:
        """Hold what a call could take; raises BudgetSpent when it does not fit, also once others hold nothing."""
        number += self._first
        until = time.monotonic() + self._wallet.patience_s
        while (refusal := self._try(number, model, most)) is not None:
            if self._wallet.stopping():
                raise Suspended
            if not refusal.passing or time.monotonic() > until:
                raise _broken(refusal)
            time.sleep(PAUSE_S)
        self._most[number] = most

    def settle(self, number: int, model: str, usage: Usage) -> None:
        """Put what a call took in the place of what was held for it; harmless when repeated."""
        number += self._first
        sound = math.isfinite(usage.cost_usd) and usage.cost_usd >= 0
        known = self._most.get(number, Usage())
        taken = usage if sound else replace(usage, cost_usd=known.cost_usd)
        self._spending.settle(self.payer, number, model, taken)
        self._note_time()

    def account(self, usage: Usage) -> float | None:
        """Hold what an attempt has taken beside recorded calls, so that others see it; gives what it may still cost.

        Raises BudgetSpent when that is nothing.
        """

        def take() -> OverBudget | None:
            self._spending.reserve(self.payer, ATTEMPT, "", usage)
            for one in self.standings(ATTEMPT):
                spent = replace(one.spent, usd=one.spent.usd + one.spent.held_usd + usage.cost_usd)
                refusal = refuse_attempt(one.allowed, spent, one.scope, self.payer.task)
                if refusal is not None and refusal.wall == "usd":
                    return refusal
            return None

        if (refusal := self._wallet.in_turn(take)) is not None:
            raise _broken(refusal)
        left_usd = self.usd_left()
        return None if left_usd is None else left_usd - usage.cost_usd

    def close(self, usage: Usage = NOTHING) -> None:
        """The attempt is over and took so much, its calls included; harmless when repeated."""

        def end() -> None:
            self._spending.settle(self.payer, ATTEMPT, "", usage.beyond(self._spending.paid_for_calls(self.payer)))
            self._spending.drop_open(self.payer)
            self._note_time()

        self._wallet.in_turn(end)

    @property
    def bounded_usd(self) -> bool:
        """Whether there is a wall around money."""
        return self._allowed.usd is not None or self._wallet.budget.usd is not None

    def paid_for_calls(self) -> Usage:
        """What the calls of the attempt took so far."""
        return self._spending.paid_for_calls(self.payer)

    def seconds_left(self) -> float | None:
        """How long the attempt may still take; None without a bound."""
        bounds = [left(one.allowed, one.spent).seconds for one in self.standings(ATTEMPT)]
        return min((seconds for seconds in bounds if seconds is not None), default=None)

    def usd_left(self) -> float | None:
        """What the attempt may still cost; None without a bound."""
        bounds = [left(one.allowed, one.spent).usd for one in self.standings(ATTEMPT)]
        return min((usd for usd in bounds if usd is not None), default=None)

    def standings(self, number: int) -> tuple[BudgetStatus, ...]:
        """The task and the run as they stand, without what is held for this call."""
        asking = (self.payer.task, self.payer.attempt, number)
        return (
            BudgetStatus(
                scope="task", allowed=self._allowed, spent=self._spent(self._allowed, asking, self.payer.task)
            ),
            BudgetStatus(scope="run", allowed=self._wallet.budget.of_run, spent=self._of_run(asking)),
        )

    def _try(self, number: int, model: str, most: Usage) -> OverBudget | None:
        def attempt() -> OverBudget | None:
            standings = self.standings(number)
            refusals = [refuse_call(one.allowed, one.spent, most, one.scope, self.payer.task) for one in standings]
            found = sorted((one for one in refusals if one is not None), key=lambda one: one.passing)
            if found:
                return found[0]
            self._spending.reserve(self.payer, number, model, most)
            return None

        return self._wallet.in_turn(attempt)

    def _of_run(self, asking: tuple[str, int, int]) -> Spent:
        return replace(self._spent(self._wallet.budget.of_run, asking), seconds=self._wallet.seconds())

    def _spent(self, allowed: Allowance, asking: tuple[str, int, int], task: str = "") -> Spent:
        if allowed == UNBOUNDED:  # adding up takes time, and nobody asks
            return Spent()
        spent = self._spending.totals(self.payer.run, task, asking)
        return replace(spent, seconds=spent.seconds + self._seconds() - self._written_down)

    def _seconds(self) -> float:
        return self._worked_before + time.monotonic() - self._opened

    def _note_time(self) -> None:
        seconds = self._seconds()
        self._spending.note_seconds(self.payer, seconds)
        self._written_down = seconds


def _broken(refusal: OverBudget) -> BudgetSpent:
    return BudgetSpent(refusal.message, refusal.advice, scope=refusal.scope, wall=refusal.wall)
