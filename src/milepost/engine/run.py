"""The run: plan → act → verify → repair or milepost → next, as one durable story.

`roadmap` is the parent: it alone decides what starts and what lands. `work` brings one task from
its first attempt to a verdict. `prove` verifies work again on top of what landed meanwhile.
All that they decide depends on recorded results alone, so a killed run decides the same again.
"""

from __future__ import annotations

from typing import Any, assert_never

from milepost.core.attempt import Attempt
from milepost.core.decide import Land, Leave, Repair, decide
from milepost.core.events import RunFinished, RunStarted, TaskFinished, TaskSummary
from milepost.core.task import Plan, Task
from milepost.core.verdict import CheckResult, Evidence, Verdict, judge
from milepost.engine import durable, stages
from milepost.engine.durable import workflow
from milepost.engine.order import Arrival, Candidate, Conflict, Landed, Landing, Order, Try, Unproven
from milepost.engine.rooms import Rooms, agent_name
from milepost.engine.wire import dump, load
from milepost.plan.schedule import blocked, ready
from milepost.workspace.mileposts import run_branch

Plain = dict[str, Any]


@workflow
def roadmap(here: Rooms, order: Plain) -> Plain:
    """The whole run: every task that was asked for, until each has its milepost or its reason."""
    journey = Journey(here, load(Order, order), load(Plan, stages.survey(order)))
    journey.travel()
    arrival = load(Arrival, stages.arrive(order, journey.head))
    return dump(journey.report(arrival))


@workflow
def work(here: Rooms, order: Plain, task: Plain, base: str, history: list[Plain], attempts_allowed: int) -> list[Plain]:
    """One task from one base: attempts until one is proven, or no further one is worth it."""
    while True:
        acted = stages.act(order, task, base, history)
        evidence = stages.verify(order, task, acted["candidate"])
        history = [*history, stages.record(here, order, task, acted, evidence)]
        tries = tuple(load(Try, plain).attempt for plain in history)
        if not isinstance(decide(tries, attempts_allowed=attempts_allowed), Repair):
            return history


@workflow
def prove(here: Rooms, order: Plain, task: Plain, last: Plain, head: str, tree: str) -> Plain:
    """The evidence for a task's work on top of what landed meanwhile."""
    attempt = load(Try, last).attempt
    changed = here.mileposts.changed_files(attempt.base, attempt.commit)
    candidate = Candidate(attempt=attempt.number, agent=attempt.agent, base=head, tree=tree, changed=changed)
    return stages.verify(order, task, dump(candidate))


class Journey:
    """The parent's view: who is at work, what waits to land, where the branch is, what is over."""

    def __init__(self, here: Rooms, order: Order, plan: Plan) -> None:
        self.here, self.order, self.plan = here, order, plan
        self.head = order.base
        self.histories: dict[str, tuple[Try, ...]] = {}
        self.starts: dict[str, int] = {}
        self.conflicts: dict[str, int] = {}
        self.at_work: dict[str, Task] = {}
        self.to_land: list[Task] = []
        self.proving: dict[str, Task] = {}
        self.ended: dict[str, TaskSummary] = {}

    def travel(self) -> None:
        """Start what is ready, take in what is finished, land what is proven, until nothing is left."""
        self._announce()
        self._start_ready()
        while under_way := {**self.at_work, **self.proving}:
            self._take_in(**durable.first_finished(sorted(under_way)))
            self._land()
            self._start_ready()
        for task_id, waits_for in self._waiting().items():
            self._end(self.plan.task(task_id), None, None, f"waits for {waits_for}")

    def report(self, arrival: Arrival) -> RunFinished:
        """The end of the run, written down and told."""
        summaries = tuple(self.ended[task_id] for task_id in self.order.tasks)
        tries = [one.attempt for history in self.histories.values() for one in history]
        finished = RunFinished(
            run=self.order.run,
            branch=run_branch(self.order.run).removeprefix("refs/heads/"),
            tasks=summaries,
            cost_usd=round(sum(attempt.outcome.cost_usd for attempt in tries), 6),
            duration_ms=sum(attempt.duration_ms for attempt in tries),
            head=self.head,
            fast_forwarded=arrival.fast_forwarded,
            by_hand=arrival.by_hand,
        )
        self.here.journal.close_run(self.order.run, finished)
        self.here.emit(finished, "finished")
        return finished

    def _announce(self) -> None:
        order = self.order
        started = RunStarted(
            run=order.run,
            branch=run_branch(order.run).removeprefix("refs/heads/"),
            base=order.base,
            base_name=order.user.branch,
            ahead=order.ahead,
            agent=order.agent,
            trust=order.trust,
            parallel=order.parallel,
            tasks=order.tasks,
        )
        self.here.emit(started, "started")

    def _start_ready(self) -> None:
        busy = frozenset(task.id for task in (*self.at_work.values(), *self.proving.values(), *self.to_land))
        passed = frozenset(task_id for task_id, end in self.ended.items() if end.verdict is Verdict.PASSED)
        unwanted = {task.id for task in self.plan.tasks} - set(self.order.tasks)
        candidates = ready(self.plan, done=passed, busy=busy, ended=frozenset(self.ended) | frozenset(unwanted))
        for task in candidates[: max(0, self.order.parallel - len(self.at_work))]:
            self._work_on(task)

    def _work_on(self, task: Task) -> None:
        """Start, or start again, a task from where the branch is now."""
        history = self.histories.get(task.id, ())
        allowed = self.order.attempts + self.conflicts.get(task.id, 0)
        workflow_id = self._next_id(task, "work")
        plain_history = [dump(one) for one in history]
        durable.start(workflow_id, work, dump(self.order), dump(task), self.head, plain_history, allowed)
        self.at_work[workflow_id] = task

    def _next_id(self, task: Task, kind: str) -> str:
        self.starts[task.id] = self.starts.get(task.id, 0) + 1
        return f"{self.order.run}/{task.id}/{kind}/{self.starts[task.id]}"

    def _take_in(self, workflow_id: str, result: Any) -> None:
        if workflow_id in self.proving:
            task = self.proving.pop(workflow_id)
            self._correct(task, load(Evidence, result))
            self._go_on(task, place=0)  # proven on top of the branch as it is: before anything else moves it
        else:
            task = self.at_work.pop(workflow_id)
            self.histories[task.id] = tuple(load(Try, plain) for plain in result)
            self._go_on(task, place=len(self.to_land))

    def _go_on(self, task: Task, place: int) -> None:
        tries = tuple(one.attempt for one in self.histories[task.id])
        allowed = self.order.attempts + self.conflicts.get(task.id, 0)
        match decide(tries, attempts_allowed=allowed):
            case Land():
                self.to_land.insert(place, task)
            case Repair():
                self._work_on(task)
            case Leave(reason):
                self._end(task, tries[-1].evidence.verdict, None, reason)
            case _ as never:
                assert_never(never)

    def _land(self) -> None:
        """Bring proven work to the branch, one after the other; what must be proven again holds back the rest."""
        while self.to_land and not self.proving:
            task = self.to_land.pop(0)
            last = self.histories[task.id][-1]
            landing = load(Landing, stages.land(dump(self.order), dump(task), dump(last), self.head)).result
            match landing:
                case Landed():
                    self.head = landing.commit
                    self._end(task, Verdict.PASSED, landing.commit, last.attempt.evidence.reason)
                case Unproven():
                    workflow_id = self._next_id(task, "prove")
                    durable.start(workflow_id, prove, dump(self.order), dump(task), dump(last), self.head, landing.tree)
                    self.proving[workflow_id] = task
                case Conflict():
                    self.conflicts[task.id] = self.conflicts.get(task.id, 0) + 1
                    self._correct(task, _conflict(last.attempt, landing.paths))
                    self._work_on(task)
                case _ as never:
                    assert_never(never)

    def _correct(self, task: Task, evidence: Evidence) -> None:
        """Put newer evidence in the place of the last attempt's."""
        *earlier, last = self.histories[task.id]
        corrected = stages.corrected(self.here, self.order.run, task.id, last, evidence, self.head)
        self.histories[task.id] = (*earlier, corrected)

    def _end(self, task: Task, verdict: Verdict | None, commit: str | None, reason: str) -> None:
        tries = [one.attempt for one in self.histories.get(task.id, ())]
        checks = tries[-1].evidence.checks if tries else ()
        self.ended[task.id] = TaskSummary(
            id=task.id, title=task.title, verdict=verdict, commit=commit, attempts=len(tries), reason=reason
        )
        finished = TaskFinished(
            run=self.order.run,
            task=task.id,
            title=task.title,
            agent=agent_name(task, self.order.agent),
            verdict=verdict,
            commit=commit,
            attempts=len(tries),
            reason=reason,
            checks=sum(check.outcome == "passed" for check in checks),
            tests=len({case.id for check in checks for case in check.cases if case.outcome == "passed"}),
            duration_ms=sum(attempt.duration_ms for attempt in tries),
            cost_usd=sum(attempt.outcome.cost_usd for attempt in tries),
        )
        self.here.emit(finished, f"{task.id}/finished")

    def _waiting(self) -> dict[str, str]:
        """The tasks that never started, and whom each waits for."""
        failed = {task_id for task_id, end in self.ended.items() if end.verdict is not Verdict.PASSED}
        unwanted = {task.id for task in self.plan.tasks if task.status == "open"} - set(self.order.tasks)
        waits = blocked(self.plan, frozenset(failed | unwanted))
        return {task_id: waits.get(task_id, "") for task_id in self.order.tasks if task_id not in self.ended}


def _conflict(attempt: Attempt, paths: tuple[str, ...]) -> Evidence:
    merge = CheckResult(
        name="merge",
        outcome="failed",
        summary=f"other tasks changed the same lines of {', '.join(paths)} meanwhile: do it again on top of theirs",
    )
    return judge(attempt.evidence.tree, (*attempt.evidence.checks, merge))
