"""What a run cost, as a person and as a program read it."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

import milepost
from milepost.cli.amounts import minutes, of, thousands, usd
from milepost.cli.arguments import Json, Roadmap
from milepost.cli.words import clipped, padded, safe

if TYPE_CHECKING:
    from milepost import Costs, Expense

_HEAD = ("attempts", "calls", "in", "out", "cached", "cost")


def register(app: typer.Typer) -> None:
    app.command()(costs)


def costs(
    roadmap: Roadmap = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="Of this run. Default: the newest.")] = None,
    as_json: Json = False,
) -> None:
    """What a run cost: by task, by model, by agent, and how that stands to its budget."""
    found = milepost.costs(roadmap, run=run)
    if as_json:
        typer.echo(json.dumps(costs_to_json(found), indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(cost_lines(found, shutil.get_terminal_size((100, 24)).columns)))


def cost_lines(found: Costs | None, width: int) -> list[str]:
    """The sums, then who took what: tasks in the order they began, models and agents the dearest first."""
    if found is None:
        return ["nothing was run here yet", "next   milepost run"]
    models = [(name, one) for name, one in found.by("model") if name or one.usd]  # attempts have none, calls have
    return [
        clipped(" · ".join([f"run {found.run}", *_taken(found)]), width),
        *_table("task", list(found.by("task")), width),
        *_table("model", _dearest_first(models), width),
        *_table("agent", _dearest_first(list(found.by("agent"))), width),
    ]


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
    facts = [of(usd(spent.usd), None if budget.usd is None else usd(budget.usd))]
    if spent.held_usd:
        facts.append(f"{usd(spent.held_usd)} held for calls without an answer")
    if spent.tokens or budget.tokens:
        tokens = of(thousands(spent.tokens), None if budget.tokens is None else thousands(budget.tokens))
        facts.append(f"{tokens} tokens")
    attempts = of(str(spent.attempts), None if budget.attempts is None else str(budget.attempts))
    facts.append(f"{attempts} {'attempt' if attempts == '1' else 'attempts'}")
    return [*facts, of(minutes(spent.seconds), None if budget.seconds is None else minutes(budget.seconds))]


def _dearest_first(groups: list[tuple[str, Expense]]) -> list[tuple[str, Expense]]:
    return sorted(groups, key=lambda group: (-group[1].usd, group[0]))


def _table(what: str, groups: list[tuple[str, Expense]], width: int) -> list[str]:
    if not groups:
        return []
    rows = [(what, *_HEAD), *((safe(name) or "not told", *_cells(one)) for name, one in groups)]
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
    counts = (one.attempts, one.calls, one.input_tokens, one.output_tokens, one.cached_tokens)
    return (*(thousands(count) if count else "–" for count in counts), usd(one.usd))
