"""What a run cost, as a person and as a program read it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milepost import runs
from milepost.cli.arguments import Json, Roadmap
from milepost.cli.format_amounts import minutes, of, thousands, usd
from milepost.cli.format_text import facts_lines, padded, safe
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import print_json, print_lines, terminal_width
from milepost.cli.worker import Database

if TYPE_CHECKING:
    from milepost.runs import Costs, Expense

_HEAD = ("attempts", "calls", "in", "out", "cached", "cost")


def register(app: typer.Typer) -> None:
    app.command()(costs)


def costs(
    roadmap: Roadmap = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="The run. Default: the latest.")] = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show what a run cost by task, model and agent, compared with its budget."""
    found = runs.costs(roadmap, run=run, database=database)
    if as_json:
        print_json(costs_to_json(found))
    else:
        print_lines("\n".join(cost_lines(found, terminal_width())))


def cost_lines(found: Costs | None, width: int) -> list[str]:
    """The sums, then who took what: tasks in the order they began, models and agents the dearest first."""
    if found is None:
        return ["no runs here yet", proposed("next   milepost run")]
    models = [(name, one) for name, one in found.by("model") if name or one.usd]  # attempts have none, calls have
    return [
        *facts_lines(f"run {found.run} · ", _taken(found), width),
        *_table("task", list(found.by("task")), width),
        *_table("model", _dearest_first(models), width),
        *_table("agent", _dearest_first(list(found.by("agent"))), width),
    ]


def spent_facts(spent_usd: float, tokens: int, budget_usd: float | None) -> list[str]:
    """What was spent of what may be; tokens that cost nothing are tokens whose price nobody knows."""
    bound = None if budget_usd is None else usd(budget_usd)
    if spent_usd or not tokens:
        return [of(usd(spent_usd), bound)]
    return ["price unknown", *([f"budget {bound}"] if bound else [])]


def costs_to_json(found: Costs | None) -> dict[str, Any]:
    if found is None:
        return {"run": None, "expenses": []}
    return {
        "run": found.run,
        "spent": asdict(found.spent),
        "budget": {name: bound for name, bound in asdict(found.budget).items() if bound is not None},
        "expenses": [asdict(expense) for expense in found.expenses],
    }


def _taken(found: Costs) -> list[str]:
    """What was taken of each wall."""
    spent, budget = found.spent, found.budget
    facts = spent_facts(spent.usd, spent.tokens, budget.usd)
    if spent.held_usd:
        facts.append(f"{usd(spent.held_usd)} reserved for unanswered calls")
    if spent.tokens or budget.tokens:
        tokens = of(thousands(spent.tokens), None if budget.tokens is None else thousands(budget.tokens))
        facts.append(f"{tokens} tokens")
    attempts = of(str(spent.attempts), None if budget.attempts is None else str(budget.attempts))
    facts.append(f"{attempts} {'attempt' if attempts == '1' else 'attempts'}")
    clock = of(minutes(spent.seconds), None if budget.seconds is None else minutes(budget.seconds))
    return [*facts, f"{clock} of working time"]


def _dearest_first(groups: list[tuple[str, Expense]]) -> list[tuple[str, Expense]]:
    return sorted(groups, key=lambda group: (-group[1].usd, group[0]))


def _table(what: str, groups: list[tuple[str, Expense]], width: int) -> list[str]:
    if not groups:
        return []
    rows = [(what, *_HEAD), *((safe(name) or "unknown", *_cells(one)) for name, one in groups)]
    wide = [max(len(row[place]) for row in rows) for place in range(1, len(_HEAD) + 1)]
    first = max(5, min(max(len(row[0]) for row in rows), width - sum(wide) - 2 * len(wide)))
    return [
        "",
        *(
            f"{padded(name, first)}{''.join(f'  {cell:>{size}}' for cell, size in zip(cells, wide, strict=True))}"
            for name, *cells in rows
        ),
    ]


def _cells(one: Expense) -> tuple[str, ...]:
    priceless = not one.usd and bool(one.input_tokens or one.output_tokens)
    counts = (one.attempts, one.calls, one.input_tokens, one.output_tokens, one.cached_tokens)
    return (*(thousands(count) if count else "–" for count in counts), "unknown" if priceless else usd(one.usd))
