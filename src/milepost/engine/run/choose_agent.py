"""The router at work in a run: each choice as a recorded step, told as an event."""

from __future__ import annotations

from typing import Any

from milepost.core.errors import MachineFailed
from milepost.core.events import AgentChosen
from milepost.core.task import Task
from milepost.engine.memory.open_memory import EPISODES_READ, whose
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.records.values_json import dump, load
from milepost.engine.routing.candidates import last_in_turn, pattern_for
from milepost.engine.routing.choose import Choice, RoutingQuestion, choose
from milepost.engine.routing.track_record import trials_of
from milepost.engine.run.durable import step
from milepost.engine.services import RunServices
from milepost.plan.advice.traits import traits_of

Plain = dict[str, Any]


@step
def route(services: RunServices, order: Plain, task: Plain, last: str, at_work: dict[str, str]) -> Plain:
    """Choose who does a task; `last` is whose turn it was last in this run, `at_work` who is at its other tasks."""
    asked, job = load(RunSpec, order), load(Task, task)
    if asked.routing is None:
        raise MachineFailed(
            f"run {asked.run} was started without agents to choose from", "start a new one: milepost run --new"
        )
    episodes = services.books.memory.journal.took(EPISODES_READ, project=whose(services.settings, asked.memory.project))
    question = RoutingQuestion(
        routing=asked.routing,
        traits=traits_of(job),
        trials=trials_of(episodes, under_way=[(asked.run, name) for name in at_work]),
        pattern=pattern_for(job, services.project.roadmap.parent),
        last=last or last_in_turn(services.books.journal, asked.run),
        busy=tuple(at_work.values()),
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


def left_out(order: RunSpec) -> AgentChosen | None:
    """Who is not chosen in this run because they cannot work here, told once; None where all can."""
    routing = order.routing
    if routing is None or not routing.left_out:
        return None
    reason = "; ".join(f"{name} is skipped: {problem}" for name, problem in routing.left_out)
    return AgentChosen(run=order.run, task="", agent="", reason=reason, mode=routing.mode, considered=routing.agents)
