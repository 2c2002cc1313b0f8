"""What a run cost, by task, by model and by agent, and how that stands to its budget. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from milepost.core.budget import Budget, Spent
from milepost.core.errors import Misuse
from milepost.core.events import AttemptFinished
from milepost.engine.records.call_log import NOTED_BUDGET, AttemptKey, CallLog
from milepost.engine.records.journal import Entry, Journal, RunRecord
from milepost.engine.records.locate import where_kept
from milepost.engine.records.spending import ATTEMPT, Spending
from milepost.engine.records.values_json import load
from milepost.store.database import Database, is_server, open_database


@dataclass(frozen=True, slots=True, kw_only=True)
class Expense:
    """What a task took of an agent and a model; no model where an agent only says what it cost as a whole.

    `held_usd` is reserved for calls that were not answered yet, or never will be.
    """

    task: str = ""
    agent: str = ""
    model: str = ""
    attempts: int = 0
    calls: int = 0
    usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    held_usd: float = 0.0

    def __add__(self, other: Expense) -> Expense:
        return replace(
            self,
            attempts=self.attempts + other.attempts,
            calls=self.calls + other.calls,
            usd=self.usd + other.usd,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            held_usd=self.held_usd + other.held_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The expenses of a run, all that it took, and what it may take."""

    run: str
    expenses: tuple[Expense, ...]
    spent: Spent
    budget: Budget

    def by(self, name: Literal["task", "model", "agent"]) -> tuple[tuple[str, Expense], ...]:
        """The expenses added up under one name each, in the order in which the names first came."""
        sums: dict[str, Expense] = {}
        for one in self.expenses:
            whose = {"task": one.task, "model": one.model, "agent": one.agent}[name]
            sums[whose] = sums.get(whose, Expense()) + one
        return tuple(sums.items())


def costs(roadmap: Path | None, run: str | None = None, server: str | None = None) -> Costs | None:
    """What a run cost, the newest unless one is named; None where nothing was ever run."""
    kept = where_kept(roadmap, run, server)
    place, run = kept.place, kept.run
    if not is_server(place) and not Path(place).exists():
        return None
    with closing(open_database(place)) as database:
        records = Journal(database).runs()
        record = next((one for one in records if run in (None, one.run)), None)
        if record is None and run is not None:
            raise Misuse(
                f"there is no run {run!r} here", f"the runs here are: {', '.join(one.run for one in records[:8])}"
            )
        return None if record is None else costs_of(database, record, Journal(database).events(record.run))


def costs_of(database: Database, record: RunRecord, entries: Sequence[Entry]) -> Costs:
    """The costs of one run, from what was settled, and from what attempts said where nothing was."""
    spending = Spending(database)
    expenses = _expenses(spending, record.run, entries)
    whole = _sum(expenses)
    spent = replace(
        spending.totals(record.run),
        usd=whole.usd,
        attempts=whole.attempts,
        seconds=spending.seconds_worked(record.run) or _span(entries),
    )
    return Costs(run=record.run, expenses=expenses, spent=spent, budget=budget_now(database, record))


def budget_now(database: Database, record: RunRecord) -> Budget:
    """What a run may take: as it was ordered, or as it was said when it was resumed."""
    ordered = record.order.get("budget")
    budget = load(Budget, ordered) if isinstance(ordered, dict) else Budget()
    given = CallLog(database).noted(AttemptKey(run=record.run, task="", attempt=0), NOTED_BUDGET)
    return replace(budget, usd=float(given)) if isinstance(given, int | float) else budget


def _expenses(spending: Spending, run: str, entries: Sequence[Entry]) -> tuple[Expense, ...]:
    sums: dict[tuple[str, str, str], Expense] = {}

    def add(one: Expense) -> None:
        key = (one.task, one.agent, one.model)
        sums[key] = sums[key] + one if key in sums else one

    settled = set()
    for task, attempt, number, agent, model, usd, received, sent, cached, held in spending.rows(run):
        settled.add((task, attempt))
        is_attempt = number == ATTEMPT
        add(
            Expense(
                task=task,
                agent=agent,
                model=model,
                attempts=int(is_attempt),
                calls=int(not is_attempt),
                usd=float(usd),
                input_tokens=int(received),
                output_tokens=int(sent),
                cached_tokens=int(cached),
                held_usd=float(held),
            )
        )
    events = [entry.event for entry in entries]
    told = {(event.task, event.attempt): event for event in events if isinstance(event, AttemptFinished)}
    for (task, attempt), event in told.items():
        if (task, attempt) not in settled:
            add(Expense(task=task, agent=event.agent, attempts=1, usd=max(0.0, event.cost_usd)))
    return tuple(sums.values())


def _sum(expenses: Iterable[Expense]) -> Expense:
    return sum(expenses, Expense())


def _span(entries: Sequence[Entry]) -> float:
    """From the first thing that was written down to the last: all that is known of a run without lives."""
    return max(0.0, entries[-1].at - entries[0].at) if entries else 0.0
