"""Writes a made-up run into a real repository and its real journal, as the engine would have."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final

from milepost.core.attempt import Attempt, Outcome
from milepost.core.calls import Usage
from milepost.core.events import (
    AgentSaid,
    AttemptFinished,
    CheckFinished,
    CommandFinished,
    CommandPrinted,
    CommandStarted,
    Event,
    GateOpened,
    MilepostMade,
    ModelCalled,
    Stage,
    StageStarted,
    TaskSummary,
)
from milepost.core.verdict import CheckResult, Evidence, Verdict, judge
from milepost.engine.attempt.record import note_for
from milepost.engine.records.check_logs import Logs
from milepost.engine.records.gates import Gates, gate_of
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_spec import FinishedAttempt, RunSpec
from milepost.engine.records.spending import ATTEMPT, Payer, Spending
from milepost.engine.run.summaries import started, task_finished
from milepost.store.database import Database
from milepost.workspace.mileposts import NOTES, attempt_ref, milepost_message, run_branch
from tests.web.history import History, Written
from tests.web.story import ROADMAP, Ran, Told, Tried

MODEL: Final = "model-x"


class Teller:
    """Tells tasks one after the other: commits go into the history, rows into the database, events are given back."""

    def __init__(self, order: RunSpec, database: Database, history: History, base: Written, logs: Logs) -> None:
        self._order, self._history, self._head, self._logs = order, history, base, logs
        self._journal, self._spending, self._gates = Journal(database), Spending(database), Gates(database)
        self._roadmap = ROADMAP
        self.events: list[Event] = [started(order)]
        self.tries: list[FinishedAttempt] = []
        self.ends: list[TaskSummary] = []

    def tell(self, task: Told) -> None:
        """All that happened to a task so far."""
        over = len(task.tries) - (task.stand in ("working", "asking"))
        judged = tuple(
            self._judge(task, number, tried)
            for number, tried in enumerate(task.tries[:over], 1)
            if self._act(task, number)
        )
        self.tries += judged
        for number in range(over + 1, len(task.tries) + 1):
            self._act(task, number)
        if task.stand == "asking":
            self._ask(task, len(task.tries))
        if judged and over == len(task.tries):
            self._end(task, judged)

    def _act(self, task: Told, number: int) -> bool:
        tried, run = task.tries[number - 1], self._order.run
        self._stage(task, number, "act")
        usage = Usage(input_tokens=9_000, output_tokens=700, cached_tokens=4_000, cost_usd=tried.cost_usd)
        payer = Payer(run=run, task=task.id, attempt=number, agent=tried.agent)
        self._spending.settle(payer, ATTEMPT, "", Usage())
        self._spending.settle(payer, 1, MODEL, usage)
        called = ModelCalled(
            run=run,
            task=task.id,
            attempt=number,
            number=1,
            model=MODEL,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cost_usd=usage.cost_usd,
            duration_ms=2_400,
        )
        self.events += [
            called,
            *(AgentSaid(run=run, task=task.id, attempt=number, text=text) for text in tried.said),
            *self._ran(task, number, "agent"),
        ]
        return True

    def _judge(self, task: Told, number: int, tried: Tried) -> FinishedAttempt:
        ticked = self._roadmap.replace(f"- [ ] {task.id} ", f"- [x] {task.id} ")
        ref = attempt_ref(self._order.run, task.id, number)
        left = self._history.commit(
            ref, f"{task.id}, attempt {number}\n", {**tried.files, "ROADMAP.md": ticked}, self._head.commit
        )
        self._stage(task, number, "verify")
        self.events += self._ran(task, number, "milepost")
        evidence = self._evidence(task, number, left.tree, tried.checks)
        attempt = Attempt(
            number=number,
            agent=tried.agent,
            base=self._head.commit,
            commit=left.commit,
            outcome=Outcome(status="finished", said="\n".join(tried.said), usage=Usage(cost_usd=tried.cost_usd)),
            evidence=evidence,
            duration_ms=int(tried.seconds * 1000),
        )
        self._journal.keep_attempt(self._order.run, task.id, attempt)
        self.events.append(_finished(self._order.run, task.id, attempt))
        return FinishedAttempt(
            attempt=attempt, proven_on=attempt.base, finished_at=self._order.started_at, changed=tuple(tried.files)
        )

    def _evidence(self, task: Told, number: int, tree: str, checks: tuple[CheckResult, ...]) -> Evidence:
        kept = tuple(
            replace(one, log_id=self._logs.keep(f"$ {one.name}\n{one.log}\n")) if one.log else one for one in checks
        )
        self.events += [
            CheckFinished(
                run=self._order.run,
                task=task.id,
                attempt=number,
                name=one.name,
                outcome=one.outcome,
                summary=one.summary,
                duration_ms=one.duration_ms,
            )
            for one in kept
        ]
        evidence = judge(tree, kept)
        return replace(evidence, confidence=0.8 if evidence.verdict is Verdict.PASSED else 0.0)

    def _end(self, task: Told, tries: tuple[FinishedAttempt, ...]) -> None:
        last = tries[-1].attempt
        verdict = last.evidence.verdict
        assert str(verdict) == task.stand, "a story must be true"
        commit = self._land(task, tries[-1]) if verdict is Verdict.PASSED else None
        end = TaskSummary(
            id=task.id,
            title=task.title,
            verdict=verdict,
            commit=commit,
            attempts=len(tries),
            reason=last.evidence.reason,
            proposal="" if commit else f"milepost run {task.id} --agent codex",
        )
        self.ends.append(end)
        self.events.append(task_finished(self._order, end, tries, last.agent))

    def _land(self, task: Told, one: FinishedAttempt) -> str:
        run, number = self._order.run, one.attempt.number
        self._stage(task, number, "land")
        note = note_for(run, task.id, one)
        message = milepost_message(
            task=task.id,
            title=task.title,
            run=run,
            attempt=number,
            agent=one.attempt.agent,
            roadmap=self._order.roadmap,
            evidence=note,
        )
        self._roadmap = self._roadmap.replace(f"- [ ] {task.id} ", f"- [x] {task.id} ")
        files = {**task.tries[number - 1].files, "ROADMAP.md": self._roadmap}
        self._head = self._history.commit(run_branch(run), message, files, self._head.commit)
        self._history.note(NOTES, self._head.commit, note)
        commit, tree = self._head.commit, self._head.tree
        self.events.append(MilepostMade(run=run, task=task.id, attempt=number, commit=commit, tree=tree))
        return commit

    def _ask(self, task: Told, number: int) -> None:
        question = f"{task.id} {task.title}: may the agent run this? It installs a package."
        gate = gate_of(
            run=self._order.run,
            task=task.id,
            attempt=number,
            kind="destructive",
            question=question,
            shown=task.asks,
            call=2,
        )
        self._gates.open_gate(gate)
        self.events.append(
            GateOpened(
                run=gate.run,
                task=gate.task,
                gate=gate.gate,
                kind=gate.kind,
                question=gate.question,
                shown=gate.shown,
                digest=gate.digest,
            )
        )

    def _stage(self, task: Told, number: int, stage: Stage) -> None:
        agent = task.tries[number - 1].agent if stage == "act" else ""
        told = StageStarted(
            run=self._order.run, task=task.id, title=task.title, attempt=number, stage=stage, agent=agent
        )
        self.events.append(told)

    def _ran(self, task: Told, number: int, by: str) -> list[Event]:
        places = [place for place, ran in enumerate(task.tries[number - 1].ran) if ran.by == by]
        rows = (_command(self._order.run, task, number, place, task.tries[number - 1].ran[place]) for place in places)
        return [row for several in rows for row in several]


def command_id(task: str, attempt: int, place: int) -> str:
    """The name of a command in the run."""
    return hashlib.sha256(f"{task}/{attempt}/{place}".encode()).hexdigest()[:8]


def _command(run: str, task: Told, number: int, place: int, ran: Ran) -> list[Event]:
    attempt, command = number, command_id(task.id, number, place)
    told: list[Event] = [
        CommandStarted(run=run, task=task.id, attempt=attempt, command=command, argv=ran.argv, by=ran.by)
    ]
    if ran.lines:
        lines, errors = ran.lines, ran.errors
        told.append(CommandPrinted(run=run, task=task.id, attempt=attempt, command=command, lines=lines, errors=errors))
    if ran.exit_code is not None:
        told.append(
            CommandFinished(
                run=run,
                task=task.id,
                attempt=attempt,
                command=command,
                exit_code=ran.exit_code,
                ending=f"exit {ran.exit_code}",
                duration_ms=640,
                unshown=0,
            )
        )
    return told


def _finished(run: str, task: str, attempt: Attempt) -> AttemptFinished:
    return AttemptFinished(
        run=run,
        task=task,
        attempt=attempt.number,
        agent=attempt.agent,
        verdict=attempt.evidence.verdict,
        reason=attempt.evidence.reason,
        commit=attempt.commit,
        duration_ms=attempt.duration_ms,
        cost_usd=attempt.outcome.cost_usd,
    )
