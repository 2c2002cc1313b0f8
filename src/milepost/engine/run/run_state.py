"""The state of a run that its scheduler, its gates and its merges share: the plan, the attempts, what is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from milepost.core.events import TaskSummary
from milepost.core.task import Plan, Task
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.attempt import record
from milepost.engine.records.run_spec import FinishedAttempt, RunSpec
from milepost.engine.records.values_json import dump
from milepost.engine.run import steps, summaries
from milepost.engine.run.goals import Course
from milepost.engine.run.next_step import TaskSituation, named
from milepost.engine.services import RunServices
from milepost.plan.graph.schedule import blocked
from milepost.plan.projects.cross_project_waits import waiting_elsewhere

DROPPED = "dropped while the run was on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """The workflows that a parent starts: attempts at a task, a proof on top of others, a question to a person."""

    work: Callable[..., Any]
    prove: Callable[..., Any]
    ask: Callable[..., Any]


class RunState:
    """What a run knows of its tasks. Filled from recorded results alone, so that a killed run knows the same again."""

    def __init__(self, services: RunServices, order: RunSpec, flows: Flows, plan: Plan, course: Course) -> None:
        self.services, self.order, self.flows = services, order, flows
        self.plan, self.course = plan, course
        self.histories: dict[str, tuple[FinishedAttempt, ...]] = {}
        self.situations: dict[str, TaskSituation] = {}
        self.pending: dict[str, str] = {}
        self.ended: dict[str, TaskSummary] = {}
        self._starts: dict[str, int] = {}

    def next_id(self, task: str, kind: str) -> str:
        """The name of the next workflow about a task."""
        self._starts[task] = self._starts.get(task, 0) + 1
        return f"{self.order.run}/{task}/{kind}/{self._starts[task]}"

    def situation(self, task: Task) -> TaskSituation:
        """What is to be known of the run when it is decided how a task goes on."""
        known = self.situations.get(task.id, TaskSituation(task=task))
        still_open = [name for name in self.course.wanted if name != task.id and name not in self.ended]
        return replace(known, task=task, others=tuple(self.plan.task(name) for name in still_open))

    def requeue(self, task: Task, hand: str = "") -> None:
        """Go on with a task as soon as there is room; `hand` is the agent that a person handed it to."""
        self.pending[task.id] = hand

    def correct(self, task_id: str, evidence: Evidence, on: str) -> None:
        """Put newer evidence in the place of the last attempt's."""
        *earlier, last = self.histories[task_id]
        corrected = record.corrected(self.services, self.order, self.plan.task(task_id), last, evidence, on)
        self.histories[task_id] = (*earlier, corrected)

    def end(self, task: Task, verdict: Verdict | None, commit: str | None, reason: str, proposal: str = "") -> None:
        """A task is over: recorded, learnt from, told."""
        tries = self.histories.get(task.id, ())
        self.ended[task.id] = end = summaries.summary(task, tries, verdict, commit, reason, proposal)
        if verdict is Verdict.PASSED:
            agent = tries[-1].attempt.agent
            self.services.books.failures.ended(self.order.run, task.id, agent, at=tries[-1].finished_at)
        taught = verdict in (Verdict.PASSED, Verdict.FAILED) or (verdict is Verdict.UNVERIFIED and commit is None)
        if taught and tries and self.order.memory.writes:
            steps.learn(dump(self.order), dump(task), [dump(one) for one in tries])
        finished = summaries.task_finished(self.order, end, tries, named(self.order, self.situation(task)))
        key = f"{task.id}/finished" if reason != DROPPED else f"{task.id}/dropped/{self.course.heard}"
        self.services.emit(finished, key)

    @property
    def landed(self) -> frozenset[str]:
        """The tasks that have their milepost: proven, or accepted by their owner."""
        return frozenset(task_id for task_id, end in self.ended.items() if end.commit)

    @property
    def set_aside(self) -> set[str]:
        """The tasks that a person said no to: what merely stands after them goes on."""
        return {task_id for task_id, end in self.ended.items() if end.verdict is None}

    @property
    def elsewhere(self) -> dict[str, str]:
        """The tasks that wait for another project's, each with the first of those; what was done there is recorded."""
        return waiting_elsewhere(self.plan, self.order.met)

    def waiting(self) -> dict[str, str]:
        """The tasks that never started, and whom each waits for."""
        ticked = {task.id for task in self.plan.tasks if task.status == "done"}
        failed = self.ended.keys() - self.landed - ticked
        unwanted = {task.id for task in self.plan.tasks if task.status == "open"} - set(self.course.wanted)
        unwanted, failed = unwanted | self.set_aside & failed, failed - self.set_aside
        elsewhere = self.elsewhere
        waits = {**blocked(self.plan, frozenset(failed | elsewhere.keys()), frozenset(unwanted)), **elsewhere}
        return {task_id: waits.get(task_id, "") for task_id in self.course.wanted if task_id not in self.ended}
