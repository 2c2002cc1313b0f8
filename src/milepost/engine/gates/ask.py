"""Asking a person: which question a task raises, and how its answer is waited for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, assert_never

from milepost.core.calls import Call
from milepost.core.events import GateAnswer, GateAnswered, GateKind, GateOpened
from milepost.core.task import Task
from milepost.engine.gates.held_question import held_question, held_shown
from milepost.engine.gates.new_dependencies import new_dependencies
from milepost.engine.gates.rules import needs_gate, question_for, shown_before
from milepost.engine.records.gates import Gate, GoAhead, Refuse, consequence, gate_of
from milepost.engine.records.run_spec import AttemptSpec, FinishedAttempt, RunSpec
from milepost.engine.records.suspend import Suspended
from milepost.engine.services import RunServices
from milepost.engine.terminals.command_policy import policy_of
from milepost.plan.advice.risk import risk_of
from milepost.sandbox.command_risk import danger_of_change
from milepost.sandbox.policy import Decision, decide

LONGEST_READ = 10_000_000  # of a diff; the gate says what of it is not shown, and its digest is of all
LOOK_S = 0.5  # how often it is looked whether a person has answered


class PersonNeeded(BaseException):
    """An attempt cannot go on before a person answered; not an error of its agent's, which must not take it for one."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate.question)
        self.gate = gate


def gate_for(
    services: RunServices, order: RunSpec, task: Task, kind: GateKind, last: FinishedAttempt | None
) -> Gate | None:
    """The question that a task raises before it begins, or before its work lands; None where nobody need be asked."""
    question: str | None
    if last is None:
        question = needs_gate(kind, task, risk_of(task), (), order.approve)
        shown, attempt = shown_before(task), 0
    else:
        made = last.attempt
        diff = services.mileposts.diff(made.base, made.commit, LONGEST_READ)
        attempt = made.number
        if kind == "held":
            question, shown = held_question(task, made.evidence), held_shown(made.evidence, made.commit, diff)
        else:
            change = services.mileposts.change(made.base, made.commit, without=order.roadmap)
            dangers = (*danger_of_change(change), *new_dependencies(change))
            question = needs_gate(kind, task, risk_of(task), dangers, order.approve)
            shown = f"commit {made.commit}\n{diff}"
    if question is None:
        return None
    asked, shown = services.redact(question), services.shown(shown)
    return gate_of(run=order.run, task=task.id, attempt=attempt, kind=kind, question=asked, shown=shown)


def open_gate(services: RunServices, gate: Gate) -> None:
    """Ask a question, and tell that it is asked; harmless when repeated."""
    services.books.gates.open_gate(gate)
    opened = GateOpened(
        run=gate.run,
        task=gate.task,
        gate=gate.gate,
        kind=gate.kind,
        question=gate.question,
        shown=gate.shown,
        digest=gate.digest,
    )
    services.emit(opened, f"{gate.gate}/opened/{gate.digest[:12]}")


def tell_answered(services: RunServices, gate: Gate, answer: GateAnswer, text: str) -> None:
    """Tell what a person answered; harmless when repeated."""
    answered = GateAnswered(run=gate.run, task=gate.task, gate=gate.gate, answer=answer, text=text)
    services.emit(answered, f"{gate.gate}/answered/{gate.digest[:12]}")


def wait_for_answer(services: RunServices, gate: Gate) -> dict[str, Any]:
    """What a person answered, for as long as that takes; a stop is not kept waiting."""
    open_gate(services, gate)
    while True:
        known = services.books.gates.find(gate.run, gate.gate)
        if known is not None and known.answer is not None:
            break
        if services.parking.stopping:
            raise Suspended
        services.parking.wait(LOOK_S)
    tell_answered(services, gate, known.answer, known.text)
    return {"answer": known.answer, "text": known.text}


def waiting_for_people(services: RunServices, run: str) -> tuple[str, ...]:
    """The tasks of a run that wait for a person."""
    return tuple(dict.fromkeys(gate.task for gate in services.books.gates.waiting(run)))


class AskingVeto:
    """Asks before commands that could do harm, knows what was answered, and refuses what is never to be run."""

    def __init__(self, services: RunServices, effort: AttemptSpec, folders: tuple[str, ...]) -> None:
        self._here, self._effort, self._folders = services, effort, folders
        self._policy = policy_of(services.settings.terminal)

    def refusal(self, number: int, call: Call) -> str:
        """Why a call is not allowed, empty when it may be made; raises when a person must be asked first."""
        if not call.argv:
            return ""
        decision = decide(self._policy, call.argv, self._folders)
        refused = self._refused(number, call, decision)
        self._audit(decision, call.argv, refused)
        return refused

    def refuses(self, argv: Sequence[str]) -> str:
        """Why a command of an agent's code is not run; the code cannot wait for a person in the middle of a step."""
        decision = decide(self._policy, tuple(argv), self._folders)
        refused = self._refused_unasked(decision)
        self._audit(decision, tuple(argv), refused)
        return refused

    def _refused_unasked(self, decision: Decision) -> str:
        match decision.verdict:
            case "allow":
                return ""
            case "deny":
                return decision.refusal
            case "ask":
                return decision.refusal if decision.is_listed or self._question(decision) else ""
            case _ as never:
                assert_never(never)

    def _audit(self, decision: Decision, argv: tuple[str, ...], refused: str) -> None:
        place = f"{self._effort.order.run}/{self._effort.task.id}/{self._effort.number}"
        self._here.audit.note(decision, argv, runs=not refused, place=place)

    def _refused(self, number: int, call: Call, decision: Decision) -> str:
        match decision.verdict:
            case "allow":
                return ""
            case "deny":
                return decision.refusal
            case "ask":
                question = self._question(decision)
                unasked = decision.refusal if decision.is_listed else ""
                return self._answer(number, call, question) if question else unasked
            case _ as never:
                assert_never(never)

    def _question(self, decision: Decision) -> str | None:
        """What to ask; nothing where the run or the task says that nobody is asked."""
        task, dangers = self._effort.task, (decision.danger,)
        if decision.is_listed and task.approve != "never":
            return question_for("destructive", task, risk_of(task), dangers)
        return needs_gate("destructive", task, risk_of(task), dangers, self._effort.order.approve)

    def _answer(self, number: int, call: Call, question: str) -> str:
        """Why a person does not allow a call; raises when none has answered yet."""
        gate = gate_of(
            run=self._effort.order.run,
            task=self._effort.task.id,
            attempt=self._effort.number,
            kind="destructive",
            question=self._here.redact(question),
            shown=self._here.redact(shlex.join(call.argv)),
            call=number,
        )
        known = self._here.books.gates.find(gate.run, gate.gate)
        if known is None or known.answer is None or known.digest != gate.digest:
            raise PersonNeeded(gate)
        meant = consequence(known.kind, known.answer, known.text)
        if isinstance(meant, GoAhead):
            return ""
        return meant.text if isinstance(meant, Refuse) else "the person who was asked did not allow it"
