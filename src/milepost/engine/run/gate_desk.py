"""Asks people on behalf of a run: when one must be asked, and what becomes of their answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, assert_never

from milepost.core.approval import accepted, approved
from milepost.core.events import GateKind
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, Verdict, judge
from milepost.engine.gates.ask import open_gate, tell_answered
from milepost.engine.gates.rules import may_need_gate
from milepost.engine.records.gates import Again, EndTask, Gate, GoAhead, Hand, Refuse, Take, consequence
from milepost.engine.records.held_work import HeldWork
from milepost.engine.records.run_spec import FinishedAttempt
from milepost.engine.records.values_json import dump, load
from milepost.engine.run import durable, steps
from milepost.engine.run.merge_queue import MergeQueue
from milepost.engine.run.run_state import RunState
from milepost.plan.graph.reshape import with_task

Plain = dict[str, Any]


class GateDesk:
    """The open questions of a run, and what people have allowed; `decide_next` says how a refused task goes on.

    `asking` are those that the run waits for, by their workflows; `held`, by their names, those that outlive it, each
    with what would let the work be proven.
    """

    def __init__(self, state: RunState, queue: MergeQueue, decide_next: Callable[[Task], None]) -> None:
        self._state, self._queue, self._decide_next = state, queue, decide_next
        self.asking: dict[str, Gate] = {}
        self.held: dict[str, tuple[Gate, str]] = {}
        self._allowed: set[tuple[str, int]] = set()

    def allows(self, task: Task, kind: GateKind, number: int) -> bool:
        """Whether nobody must be asked, or somebody said yes; whoever must be is asked now."""
        if (task.id, number) in self._allowed:
            return True
        if not may_need_gate(kind, task, self._state.order.approve):
            return True
        last = dump(self._state.histories[task.id][-1]) if number else {}
        question = steps.question(dump(self._state.order), dump(task), kind, last)
        if not question:
            self._allowed.add((task.id, number))
            return True
        self.wait_for(load(Gate, question))
        return False

    def wait_for(self, gate: Gate) -> None:
        workflow_id = self._state.next_id(gate.task, "ask")
        durable.start(workflow_id, self._state.flows.ask, dump(self._state.order), dump(gate))
        self.asking[workflow_id] = gate

    def hold(self, task: Task, proposal: str) -> None:
        """Ask about work that only a person can judge; the run goes on beside it, and may end before the answer."""
        state, tries = self._state, self._state.histories[task.id]
        gate = load(Gate, steps.question(dump(state.order), dump(task), "held", dump(tries[-1])))
        state.services.books.held.keep(HeldWork(run=state.order.run, task=task, tries=tries))
        open_gate(state.services, gate)
        self.held[gate.gate] = (gate, proposal)

    @property
    def held_tasks(self) -> frozenset[str]:
        return frozenset(gate.task for gate, _ in self.held.values())

    def take(self, workflow_id: str, result: Plain) -> None:
        """Do what a person answered."""
        self._do(self.asking.pop(workflow_id), result)

    def take_held(self, name: str, result: Plain) -> None:
        """Do what a person answered about held work."""
        gate, _ = self.held.pop(name)
        tell_answered(self._state.services, gate, result["answer"], result["text"])
        self._do(gate, result)

    def _do(self, gate: Gate, result: Plain) -> None:
        state = self._state
        task = state.plan.task(gate.task)
        if task.id in state.ended:
            return
        match consequence(gate.kind, result["answer"], result["text"]):
            case GoAhead(text=text):
                told = replace(task, text=f"{task.text}\n\n{text}".strip()) if text else task
                state.plan = with_task(state.plan, told)
                self._let_pass(gate, told, result.get("by", ""))
            case Take(why=why):
                last = state.histories[task.id][-1]
                self._land(task, accepted(last.attempt.evidence, result["by"], why))
            case Refuse():
                state.requeue(task)
            case Again(text=text):
                self._refuse(task, text)
                self._decide_next(task)
            case Hand(agent=agent):
                state.plan = with_task(state.plan, replace(task, agent=agent))
                self._allowed.add((task.id, 0))
                if gate.kind in ("after", "held"):
                    self._refuse(task, f"handed to {agent}")
                if gate.kind != "before":
                    state.requeue(state.plan.task(task.id), hand=agent)
            case EndTask(reason=reason):
                verdict = Verdict.FAILED if task.id in state.histories else None
                state.end(task, verdict, None, reason)
            case _ as never:
                assert_never(never)

    def _let_pass(self, gate: Gate, task: Task, by: str) -> None:
        """A person said yes."""
        match gate.kind:
            case "before":
                self._allowed.add((task.id, 0))
            case "after":
                self._allowed.add((task.id, gate.attempt))
                self._queue.wait(task.id)
            case "held":
                self._allowed.add((task.id, gate.attempt))
                self._land(task, approved(self._state.histories[task.id][-1].attempt.evidence, by))
            case "destructive":
                self._state.requeue(task)
            case _ as never:
                assert_never(never)

    def _land(self, task: Task, evidence: Evidence) -> None:
        """Put a person's yes into the evidence of held work, and let the work wait for its place."""
        state = self._state
        state.correct(task.id, evidence, state.histories[task.id][-1].proven_on)
        self._queue.wait(task.id)

    def _refuse(self, task: Task, text: str) -> None:
        """Put a person's refusal into the evidence of the last attempt."""
        self._state.correct(task.id, _reviewed(self._state.histories[task.id][-1], text), self._queue.head)


def _reviewed(last: FinishedAttempt, text: str) -> Evidence:
    review = CheckResult(name="review", outcome="failed", summary=f"a person looked at it: {text}")
    return judge(last.attempt.evidence.tree, (*last.attempt.evidence.checks, review))
