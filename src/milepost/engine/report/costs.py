"""What a run took, by task, by model and by agent, added up from its events. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from milepost.core.events import AttemptFinished, BudgetReached, ForecastMade, ModelCalled
from milepost.engine.records.journal import Entry, RunRecord
from milepost.engine.report.facts import CostLine, Costs
from milepost.engine.report.words import duration, money

Attempts = dict[tuple[str, int], tuple[float, str]]


def costs_of(record: RunRecord, entries: Sequence[Entry]) -> Costs:
    """The ledger of a run. An attempt costs what it said at its end, or what its calls cost until then."""
    calls = [entry.event for entry in entries if isinstance(entry.event, ModelCalled)]
    spent = _attempts(entries, calls)
    models: dict[str, CostLine] = {}
    tasks: dict[str, CostLine] = {}
    agents: dict[str, CostLine] = {}
    for call in calls:
        agent = spent[call.task, call.attempt][1]
        for lines, name in ((models, call.model), (tasks, call.task), (agents, agent)):
            if name:
                lines[name] = _with_call(lines.get(name, CostLine(name=name)), call)
        models[call.model] = replace(models[call.model], usd=models[call.model].usd + call.cost_usd)
    for (task, _), (usd, agent) in spent.items():
        for lines, name in ((tasks, task), (agents, agent)):
            if name:
                line = lines.get(name, CostLine(name=name))
                lines[name] = replace(line, usd=line.usd + usd, attempts=line.attempts + 1)
    walls = dict.fromkeys(entry.event.message for entry in entries if isinstance(entry.event, BudgetReached))
    return Costs(
        by_task=tuple(tasks.values()),
        by_model=_largest_first(models),
        by_agent=_largest_first(agents),
        usd=sum(usd for usd, _ in spent.values()),
        tokens=sum(call.input_tokens + call.output_tokens for call in calls),
        budget_usd=_budget_usd(record.order),
        forecast=_forecast(entries),
        walls=tuple(walls),
    )


def _attempts(entries: Sequence[Entry], calls: Iterable[ModelCalled]) -> Attempts:
    """What each attempt cost, and whose it was."""
    spent: Attempts = {}
    for call in calls:
        usd, agent = spent.get((call.task, call.attempt), (0.0, ""))
        spent[call.task, call.attempt] = (usd + call.cost_usd, agent)
    for entry in entries:
        if isinstance(entry.event, AttemptFinished):
            event = entry.event
            by_calls, _ = spent.get((event.task, event.attempt), (0.0, ""))
            spent[event.task, event.attempt] = (max(by_calls, event.cost_usd), event.agent)
    return spent


def _with_call(line: CostLine, call: ModelCalled) -> CostLine:
    return replace(
        line,
        calls=line.calls + 1,
        input_tokens=line.input_tokens + call.input_tokens,
        output_tokens=line.output_tokens + call.output_tokens,
        cached_tokens=line.cached_tokens + call.cached_tokens,
    )


def _largest_first(lines: Mapping[str, CostLine]) -> tuple[CostLine, ...]:
    return tuple(sorted(lines.values(), key=lambda line: (-line.usd, line.name)))


def _budget_usd(order: Mapping[str, Any]) -> float | None:
    """What the run may cost, as its order records it."""
    budget = order.get("budget")
    usd = budget.get("usd") if isinstance(budget, Mapping) else None
    return float(usd) if isinstance(usd, int | float) else None


def _forecast(entries: Sequence[Entry]) -> str:
    made = next((entry.event for entry in entries if isinstance(entry.event, ForecastMade)), None)
    if made is None:
        return ""
    cost = f"about {money(made.usd)} ({money(made.usd_low)} to {money(made.usd_high)})"
    time = f"{duration(made.seconds)} ({duration(made.seconds_low)} to {duration(made.seconds_high)})"
    return f"{cost}, {time}, from {made.similar} similar attempts"
