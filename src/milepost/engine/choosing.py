"""The router at work in a run: each choice as a recorded step, told as an event, and what is learnt from its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from milepost.core.attempt import Attempt
from milepost.core.errors import MachineFailed
from milepost.core.events import AgentChosen
from milepost.core.failures import FailureClass
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.engine.durable import step
from milepost.engine.onward import PARTS, RECIPE, folded
from milepost.engine.order import Order, Try
from milepost.engine.rooms import Rooms
from milepost.engine.router import Choice, Question, choose
from milepost.engine.routing import TRIALS_READ, last_in_turn, pattern_for
from milepost.engine.wire import dump, load
from milepost.memory.statistics import Statistics, Trial
from milepost.plan.traits import traits_of
from milepost.repair.classify import classify
from milepost.repair.policy import counts

Plain = dict[str, Any]


@step
def route(here: Rooms, order: Plain, task: Plain, last: str, busy: list[str]) -> Plain:
    """Choose who does a task; `last` is whose turn it was last in this run, `busy` who is at its other tasks."""
    asked, job = load(Order, order), load(Task, task)
    if asked.routing is None:
        raise MachineFailed(f"run {asked.run} began without anybody to choose among", "milepost run --new")
    question = Question(
        routing=asked.routing,
        traits=traits_of(job),
        trials=here.books.statistics.newest(TRIALS_READ),
        pattern=pattern_for(job, here.project.roadmap.parent),
        last=last or last_in_turn(here.books.journal, asked.run),
        busy=tuple(busy),
        dice=f"{asked.run}/{job.id}",
    )
    return dump(choose(question))


def chosen(run: str, task: str, choice: Choice) -> AgentChosen:
    """A choice as the run tells of it."""
    return AgentChosen(
        run=run,
        task=task,
        agent=choice.agent,
        reason=choice.reason,
        mode=choice.mode,
        considered=choice.considered,
    )


def left_out(order: Order) -> AgentChosen | None:
    """Who is not chosen in this run because they cannot work here, told once; None where all can."""
    routing = order.routing
    if routing is None or not routing.left_out:
        return None
    reason = "; ".join(f"{name} is left out: {problem}" for name, problem in routing.left_out)
    return AgentChosen(run=order.run, task="", agent="", reason=reason, mode=routing.mode, considered=routing.agents)


def remember(statistics: Statistics, run: str, task: Task, tries: Iterable[Try]) -> None:
    """Keep how each agent fared at a task that is over; harmless when repeated."""
    traits = traits_of(task)
    by_agent: dict[str, list[Attempt]] = {}
    # That its parts were done by others says nothing for who did not get the task done whole.
    for attempt in folded(tuple(one.attempt for one in tries if one.attempt.agent != PARTS)):
        if not attempt.agent.startswith(RECIPE):
            by_agent.setdefault(attempt.agent, []).append(attempt)
    for agent, attempts in by_agent.items():
        statistics.record(
            Trial(
                run=run,
                task=task.id,
                agent=agent,
                kind=traits.kind,
                size=traits.size,
                risky=traits.risky,
                passed=_judged(attempts[-1]),
                attempts=len(attempts),
                seconds=sum(attempt.duration_ms for attempt in attempts) / 1000,
                cost_usd=sum(attempt.outcome.cost_usd for attempt in attempts),
            )
        )


def _judged(last: Attempt) -> bool | None:
    """Whether an agent did its task; None where that is not for its last attempt to tell.

    What nobody could verify, a limited service, a merge and a machine that lacks a program say nothing of an agent.
    """
    if last.evidence.verdict is Verdict.PASSED:
        return True
    failure = classify(last)
    if last.evidence.verdict is Verdict.UNVERIFIED or failure is None or not counts(failure):
        return None
    return None if failure.kind is FailureClass.TOOL_FAILURE and failure.check != "agent" else False
