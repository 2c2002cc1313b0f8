"""A task once more: held as in the run that it was tried in last, but for what is said by hand. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from milepost.core.budget import left, usd_words
from milepost.core.commands import TrustLevel
from milepost.core.errors import BudgetSpent
from milepost.engine.budget.costs import costs
from milepost.engine.project.network_setting import as_text
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import server_named
from milepost.engine.records.run_request import RunRequest
from milepost.engine.run.recorded_agents import require_agreed_names
from milepost.engine.views.log import milepost_of
from milepost.engine.views.revisions import mileposts_of
from milepost.workspace.mileposts import Mileposts

LONGEST_NAME = 60
LEAST_USD = 1e-6

_ASKING = {
    "each": "asking about each task",
    "risky": "asking before what is risky",
    "never": "asking only where the roadmap says so",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRequest:
    """How a task is tried once more: what is asked of its run. `before` is the run that this is taken from.

    `held` is in words what holds its commands, `money` what is left for it.
    """

    wish: RunRequest
    before: str = ""
    held: str = ""
    money: str = ""

    def __str__(self) -> str:
        by = f"by {self.wish.agent[:LONGEST_NAME]}" if self.wish.agent else ""
        asking = _ASKING.get(self.wish.approve or "", "")
        return ", ".join(word for word in (by, self.held, asking, self.money) if word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A task to try once more, and what is said by hand: by whom, for how much, at which server's workers."""

    task: str
    roadmap: Path | None = None
    agent: str | None = None
    budget_usd: float | None = None
    database: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """A run of this roadmap, and who made its attempts at the task; `goes_on` when the next start may go on with it."""

    record: RunRecord
    agents: tuple[str, ...]
    goes_on: bool

    @property
    def rank(self) -> tuple[bool, float]:
        return bool(self.agents), self.record.started_at


def once_more(retry: Retry) -> RetryRequest:
    """How a task is to be tried again; refuses where nothing is left of what the run before might cost."""
    before = _before(Project.find(retry.roadmap), retry)
    again = (
        RetryRequest(wish=RunRequest())
        if before is None
        else replace(as_ordered(before.record.order), before=before.record.run)
    )
    agent = retry.agent or (_agent(before) if before is not None else None)
    if agent and not retry.agent:
        project = Project.find(retry.roadmap)
        require_agreed_names(project, load(project.roadmap.parent), (agent,))
    budget, money = retry.budget_usd, ""
    if budget is not None:
        money = f"for {usd_words(budget)} at most"
    elif before is not None and not before.goes_on and (budget := _rest(retry, again.before)) is not None:
        money = f"with {usd_words(budget)} left"
    wish = replace(
        again.wish,
        roadmap=retry.roadmap,
        tasks=(retry.task,),
        agent=agent,
        budget_usd=budget,
        database=retry.database,
    )
    return replace(again, wish=wish, money=money)


def last_agent(wish: Retry) -> str | None:
    """Who tried a task last, None where nobody did."""
    before = _before(Project.find(wish.roadmap), wish)
    return before.agents[-1] if before is not None and before.agents else None


def as_ordered(order: dict[str, Any]) -> RetryRequest:
    """What an order says of how its run is held, as flags say it; one of another version may lack some. Pure."""
    sandbox, planning, manner = (order.get(name) or {} for name in ("sandbox", "planning", "manner"))
    trust = TrustLevel.SANDBOXED.value if order.get("downgraded") else order.get("trust")
    wish = RunRequest(
        parallel=order.get("parallel"),
        trust=trust or None,
        network=as_text(sandbox["network"]) or None if "network" in sandbox else None,
        approve=order.get("approve"),
        ordered=order.get("ordered"),
        order=planning.get("sequence"),
        dialect=manner.get("dialect"),
        memory=(order.get("memory") or {}).get("mode"),
        verify_mode=(order.get("checks") or {}).get("mode"),
        adaptive_mode=(order.get("repairs") or {}).get("mode"),
    )
    return RetryRequest(wish=wish, held=str(order.get("trust") or sandbox.get("container") or ""))


def _agent(before: _Before) -> str | None:
    return before.agents[-1] if before.agents else before.record.order.get("agent") or None


def _rest(retry: Retry, before: str) -> float | None:
    """What is left of the money that the run before had, None where it was not bound."""
    spent = costs(retry.roadmap, before, retry.database)
    rest = left(spent.budget.of_run, spent.spent).usd if spent is not None else None
    if spent is None or rest is None:
        return None
    if rest < LEAST_USD:
        had = usd_words(spent.budget.usd or 0.0)
        raise BudgetSpent(
            f"the budget of {had} of run {before} is spent",
            f"raise the limit: milepost retry {retry.task} --budget {spent.budget.usd:g}",
        )
    return round(rest, 9)


def _before(project: Project, wish: Retry) -> _Before | None:
    """The newest run that tried the task, by its name or the one that it had before; else the newest run."""
    server = server_named(project, wish.database)
    places: tuple[Path | str, ...] = (project.database, *((server,) if server else ()))
    with mileposts_of(project) as mileposts:

        def newest(task: str) -> _Before | None:
            found = [one for place in places for one in _runs(project, mileposts, place, task, last=places[-1])]
            return max(found, key=lambda one: one.rank, default=None)

        before = newest(wish.task)
        if before is None or before.agents:
            return before
        former, _ = milepost_of(project, mileposts, wish.task)
        return before if former == wish.task else newest(former)


def _runs(project: Project, mileposts: Mileposts, place: Path | str, task: str, last: Path | str) -> Iterator[_Before]:
    """The newest run in a database, and the newest there that tried the task; a server keeps those of others, too."""
    with Journal.look(place) as journal:
        any_yet = False
        for record in journal.runs():
            if record.order.get("roadmap") != project.roadmap_in_tree:
                continue
            tried = (one.agent for one in journal.attempts(record.run, task))
            agents = tuple(agent for agent in tried if not agent.startswith("recipe:"))
            if (agents or not any_yet) and mileposts.resolve(str(record.order.get("base", ""))) is not None:
                any_yet = True
                yield _Before(record=record, agents=agents, goes_on=record.unfinished and place == last)
            if agents and any_yet:
                return
