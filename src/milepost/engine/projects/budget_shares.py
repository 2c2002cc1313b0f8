"""One budget for several projects: each gets a share of what is left, by the tasks that it has to do."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from milepost.core.errors import BudgetSpent
from milepost.engine.budget.costs import costs_of
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.store.database import open_database

SMALLEST_USD = 0.0001


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a project took so far, in USD: in all, and of that in the run that was interrupted and goes on."""

    all_usd: float = 0.0
    going_on_usd: float = 0.0


def share_out(budget_usd: float, took: Mapping[str, Took], tasks: Mapping[str, int]) -> dict[str, float]:
    """What the next run of each project may take as a whole; together never more than what is left of the budget."""
    left = budget_usd - sum(one.all_usd for one in took.values())
    count = sum(tasks.values())
    if count and left < SMALLEST_USD * count:
        spent = budget_usd - left
        raise BudgetSpent(
            f"${spent:.2f} is spent of ${budget_usd:.2f} for all projects",
            f"raise it: milepost together --resume --budget {max(budget_usd, spent) * 2:.2f}",
        )
    return {name: took[name].going_on_usd + left * number / count for name, number in tasks.items()}


def left_of(share_usd: float, before: Took, now: Took) -> float:
    """What the next run of a project may take of its share, when earlier ones took of it since `before`."""
    return share_usd - before.going_on_usd - (now.all_usd - before.all_usd) + now.going_on_usd


def took_since(project: Project, began_at: float) -> Took:
    """What the held runs of a project took since a moment, with what is reserved for calls that were never answered."""
    if not project.database.exists():
        return Took()
    in_all, going_on = 0.0, 0.0
    with closing(open_database(project.database)) as database:
        journal = Journal(database)
        for record in journal.runs():
            if not record.order.get("held") or record.started_at < began_at:
                continue
            costs = costs_of(database, record, journal.events(record.run))
            usd = costs.spent.usd + sum(one.held_usd for one in costs.expenses)
            in_all += usd
            going_on += usd if record.unfinished else 0.0
    return Took(all_usd=in_all, going_on_usd=going_on)
