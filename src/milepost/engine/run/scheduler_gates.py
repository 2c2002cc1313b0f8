"""The parent of a run and the people it asks: when one must be asked, and what becomes of their answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from milepost.core.events import GateKind
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, Verdict, judge
from milepost.engine.gates.rules import may_need_gate
from milepost.engine.records.gates import Again, End, Gate, GoAhead, Hand, Refuse, consequence
from milepost.engine.records.run_spec import Try
from milepost.engine.records.values_json import dump, load
from milepost.engine.run import durable, steps
from milepost.plan.graph.reshape import with_task

if TYPE_CHECKING:
    from milepost.engine.run.scheduler import Journey

Plain = dict[str, Any]


def ask(journey: Journey, task: Task, kind: GateKind, number: int) -> bool:
    """Ask a person, where one must be asked; gives whether one is."""
    if not may_need_gate(kind, task, journey.order.approve):
        return False
    last = dump(journey.histories[task.id][-1]) if number else {}
    question = steps.question(dump(journey.order), dump(task), kind, last)
    if not question:
        journey.allowed.add((task.id, number))
        return False
    wait_for(journey, load(Gate, question))
    return True


def wait_for(journey: Journey, gate: Gate) -> None:
    workflow_id = journey.next_id(gate.task, "ask")
    durable.start(workflow_id, journey.flows.ask, dump(journey.order), dump(gate))
    journey.asking[workflow_id] = gate


def take(journey: Journey, gate: Gate, result: Plain) -> None:
    task = journey.plan.task(gate.task)
    if task.id in journey.ended:
        return
    match consequence(gate.kind, result["answer"], result["text"]):
        case GoAhead(text=text):
            told = replace(task, text=f"{task.text}\n\n{text}".strip()) if text else task
            journey.plan = with_task(journey.plan, told)
            _let_pass(journey, gate, told)
        case Refuse():
            journey.work_on(task)
        case Again(text=text):
            journey.correct(task.id, _reviewed(journey.histories[task.id][-1], text), journey.track.head)
            journey.go_on(task)
        case Hand(agent=agent):
            journey.plan = with_task(journey.plan, replace(task, agent=agent))
            journey.allowed.add((task.id, 0))
            if gate.kind == "after":
                journey.correct(
                    task.id, _reviewed(journey.histories[task.id][-1], f"handed to {agent}"), journey.track.head
                )
            if gate.kind != "before":
                journey.work_on(journey.plan.task(task.id), hand=agent)
        case End(reason=reason):
            verdict = Verdict.FAILED if task.id in journey.histories else None
            journey.end(task, verdict, None, reason)
        case _ as never:
            assert_never(never)


def _let_pass(journey: Journey, gate: Gate, task: Task) -> None:
    """A person said yes."""
    match gate.kind:
        case "before":
            journey.allowed.add((task.id, 0))
        case "after":
            journey.allowed.add((task.id, gate.attempt))
            journey.track.join(task.id)
        case "destructive":
            journey.work_on(task)
        case _ as never:
            assert_never(never)


def _reviewed(last: Try, text: str) -> Evidence:
    """The evidence with a person's refusal in it."""
    review = CheckResult(name="review", outcome="failed", summary=f"a person looked at it: {text}")
    return judge(last.attempt.evidence.tree, (*last.attempt.evidence.checks, review))
