"""The run: plan → act → verify → repair or milepost → next, as one durable story.

`roadmap` is the parent: it alone decides what starts and what lands. `work` brings one task from
its first attempt to a verdict. `prove` verifies work again on top of what landed meanwhile.
All that they decide depends on recorded results alone, so a killed run decides the same again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, assert_never

from milepost.core.attempt import Attempt
from milepost.core.events import RunFinished, RunStarted, TaskFinished, TaskSummary
from milepost.core.task import Plan, Task
from milepost.core.verdict import CheckResult, Evidence, Verdict, judge
from milepost.engine import durable, records, stages
from milepost.engine.durable import workflow
from milepost.engine.onward import PARTS, Land, Leave, Outlook, Repair, Split, Wait, decide, first_way
from milepost.engine.order import Arrival, Candidate, Conflict, Landed, Landing, Order, Try, Unproven
from milepost.engine.rooms import Rooms, agent_name
from milepost.engine.wire import dump, load
from milepost.plan.reshape import waiting_for, with_parts
from milepost.plan.schedule import blocked, ready
from milepost.workspace.mileposts import run_branch

Plain = dict[str, Any]
MOST_RECIPES = 5  # after one attempt of an agent; each is another one, or has something else to mend


@workflow
def roadmap(here: Rooms, order: Plain) -> Plain:
    """The whole run: every task that was asked for, until each has its milepost or its reason."""
    journey = Journey(here, load(Order, order), load(Plan, stages.survey(order)))
    journey.travel()
    arrival = load(Arrival, stages.arrive(order, journey.head))
    return dump(journey.report(arrival))


@workflow
def work(here: Rooms, order: Plain, task: Plain, base: str, history: list[Plain], outlook: Plain) -> list[Plain]:
    """One task from one base: attempts until one is proven, or no further one from this base is worth it."""
    asked, seen = load(Order, order), load(Outlook, outlook)
    way = first_way(tuple(load(Try, plain) for plain in history), asked, seen)
    while True:
        stages.pause(here, way.wait_s, since=history[-1]["finished_at"] if history else 0)
        stage = stages.gather if way.agent == PARTS else stages.act
        acted = stage(order, task, base, history, dump(way))
        evidence = stages.verify(order, task, acted["candidate"])
        history = [*history, records.record(here, order, task, acted, evidence)]
        told: list[str] = []
        for _ in range(MOST_RECIPES):
            mended = stages.mend(order, task, history)
            told += mended.get("told", [])
            if "acted" not in mended:
                break
            evidence = stages.verify(order, task, mended["acted"]["candidate"])
            history = [*history, records.record(here, order, task, mended["acted"], evidence)]
        onward = decide(tuple(load(Try, plain) for plain in history), asked, seen)
        if not isinstance(onward, Repair):
            return history
        way = replace(onward.way, advice=(*told, *onward.way.advice))


@workflow
def prove(here: Rooms, order: Plain, task: Plain, last: Plain, head: str, tree: str) -> Plain:
    """The evidence for a task's work on top of what landed meanwhile."""
    one = load(Try, last)
    attempt = one.attempt
    candidate = Candidate(
        attempt=attempt.number,
        agent=attempt.agent,
        base=head,
        tree=tree,
        changed=here.mileposts.changed_files(attempt.base, attempt.commit),
        corrections=one.corrections,
    )
    return stages.verify(order, task, dump(candidate))


class Journey:
    """The parent's view: who is at work, what waits to land, where the branch is, what is over."""

    def __init__(self, here: Rooms, order: Order, plan: Plan) -> None:
        self.here, self.order, self.plan = here, order, plan
        self.head = order.base
        self.histories: dict[str, tuple[Try, ...]] = {}
        self.starts: dict[str, int] = {}
        self.wanted: tuple[str, ...] = order.tasks
        self.waited_for: dict[str, tuple[str, ...]] = {}
        self.split: set[str] = set()
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
            verdict = Verdict.FAILED if task_id in self.histories else None
            self._end(self.plan.task(task_id), verdict, None, f"waits for {waits_for}")

    def report(self, arrival: Arrival) -> RunFinished:
        """The end of the run, written down and told."""
        summaries = tuple(self.ended[task_id] for task_id in self.wanted)
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
        unwanted = {task.id for task in self.plan.tasks} - set(self.wanted)
        candidates = ready(self.plan, done=passed, busy=busy, ended=frozenset(self.ended) | frozenset(unwanted))
        for task in candidates[: max(0, self.order.parallel - len(self.at_work))]:
            self._work_on(task)

    def _work_on(self, task: Task) -> None:
        """Start, or start again, a task from where the branch is now."""
        workflow_id = self._next_id(task, "work")
        history = [dump(one) for one in self.histories.get(task.id, ())]
        outlook = dump(self._outlook(task))
        durable.start(workflow_id, work, dump(self.order), dump(task), self.head, history, outlook)
        self.at_work[workflow_id] = task

    def _outlook(self, task: Task) -> Outlook:
        """What is to be known of the run when it is decided how a task goes on."""
        open_still = [name for name in self.wanted if name != task.id and name not in self.ended]
        return Outlook(
            task=task,
            others=tuple(self.plan.task(name) for name in open_still),
            waited_for=self.waited_for.get(task.id, ()),
            decomposed=task.id in self.split,
        )

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
        tries = self.histories[task.id]
        match decide(tries, self.order, self._outlook(task)):
            case Land():
                self.to_land.insert(place, task)
            case Repair():
                self._work_on(task)
            case Wait(until=other):
                self.waited_for[task.id] = (*self.waited_for.get(task.id, ()), other)
                self.plan = waiting_for(self.plan, task.id, other)
            case Split(parts=parts):
                self.split.add(task.id)
                self.wanted = (*self.wanted, *(part.id for part in parts))
                self.plan = with_parts(self.plan, task.id, parts)
            case Leave(reason=reason, proposal=proposal):
                self._end(task, tries[-1].attempt.evidence.verdict, None, reason, proposal)
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
                    self._correct(task, _conflict(last.attempt, landing.paths))
                    self._work_on(task)
                case _ as never:
                    assert_never(never)

    def _correct(self, task: Task, evidence: Evidence) -> None:
        """Put newer evidence in the place of the last attempt's."""
        *earlier, last = self.histories[task.id]
        corrected = records.corrected(self.here, self.order.run, task.id, last, evidence, self.head)
        self.histories[task.id] = (*earlier, corrected)

    def _end(self, task: Task, verdict: Verdict | None, commit: str | None, reason: str, proposal: str = "") -> None:
        tries = [one.attempt for one in self.histories.get(task.id, ())]
        checks = tries[-1].evidence.checks if tries else ()
        self.ended[task.id] = TaskSummary(
            id=task.id,
            title=task.title,
            verdict=verdict,
            commit=commit,
            attempts=len(tries),
            reason=reason,
            proposal=proposal,
        )
        if verdict is Verdict.PASSED:
            self.here.failures.ended(
                self.order.run, task.id, tries[-1].agent, at=self.histories[task.id][-1].finished_at
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
            proposal=proposal,
            confidence=tries[-1].evidence.confidence if tries else 0.0,
            checks=sum(check.outcome == "passed" for check in checks),
            tests=len({case.id for check in checks for case in check.cases if case.outcome == "passed"}),
            duration_ms=sum(attempt.duration_ms for attempt in tries),
            cost_usd=sum(attempt.outcome.cost_usd for attempt in tries),
        )
        self.here.emit(finished, f"{task.id}/finished")

    def _waiting(self) -> dict[str, str]:
        """The tasks that never started, and whom each waits for."""
        failed = {task_id for task_id, end in self.ended.items() if end.verdict is not Verdict.PASSED}
        unwanted = {task.id for task in self.plan.tasks if task.status == "open"} - set(self.wanted)
        waits = blocked(self.plan, frozenset(failed | unwanted))
        return {task_id: waits.get(task_id, "") for task_id in self.wanted if task_id not in self.ended}


def _conflict(attempt: Attempt, paths: tuple[str, ...]) -> Evidence:
    merge = CheckResult(
        name="merge",
        outcome="failed",
        summary=f"other tasks changed the same lines of {', '.join(paths)} meanwhile: do it again on top of theirs",
    )
    return judge(attempt.evidence.tree, (*attempt.evidence.checks, merge))
