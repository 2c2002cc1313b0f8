"""Merges verified work into the run's branch: what is proven on its place in the queue first, the rest behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from milepost.core.approval import carried_over, end_reason, may_land
from milepost.core.events import MilepostMade
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, judge
from milepost.engine.records.run_spec import Conflict, FinishedAttempt, Landed, MergeResult, Rebased, Unproven
from milepost.engine.records.values_json import dump, load
from milepost.engine.run import durable, steps
from milepost.engine.run.merge_queue import MergeQueue, QueuedMerge
from milepost.engine.run.run_state import RunState


class Merger:
    """The merge queue of a run, and what became of the work in it; `decide_next` says how a refused task goes on."""

    def __init__(self, state: RunState, decide_next: Callable[[Task], None]) -> None:
        self._state, self._decide_next = state, decide_next
        self.queue = MergeQueue(state.order.base)
        self.contested: dict[str, tuple[str, ...]] = {}
        self._doubts: dict[str, Evidence] = {}

    def advance(self, *, in_order: bool = True) -> None:
        """Merge what is proven on its place; queue what is verified, and have it proven there."""
        while True:
            while task_id := self.queue.next_to_merge:
                self._merge_first(task_id)
            if self.queue.queued and self.queue.queued[0].doubtful:  # all before it are merged: it is its own fault
                first = self.queue.queued[0]
                self._settle(first.task, self._doubts[first.task], first.on)
                continue
            task_id = self._next_to_add(in_order=in_order)
            if not task_id or not self._add(self._state.plan.task(task_id)):
                return

    def take_proof(self, workflow_id: str, evidence: Evidence) -> None:
        """What the proof of a queued task came to."""
        queued = next(one for one in self.queue.queued if one.proving == workflow_id)
        evidence = carried_over(self._state.histories[queued.task][-1].attempt.evidence, evidence)
        if not may_land(evidence) and self.queue.queued[0] is not queued:
            self._doubts[queued.task] = evidence
            self.queue.doubted(queued.task)
            return
        self._settle(queued.task, evidence, queued.on)

    def _settle(self, task_id: str, evidence: Evidence, on: str) -> None:
        self._state.correct(task_id, evidence, on)
        if may_land(evidence):
            self.queue.proven(task_id)
        else:
            self.queue.leave(task_id)
            self._decide_next(self._state.plan.task(task_id))

    def _next_to_add(self, *, in_order: bool) -> str:
        course = self._state.course
        if any(one.doubtful for one in self.queue.queued) or len(self.queue.proving) >= max(2, course.parallel):
            return ""
        stuck = {task_id for task_id, waits_for in self._state.waiting().items() if waits_for}
        unfinished = frozenset(set(course.wanted) - set(self._state.ended) - stuck)
        return self.queue.next_to_add(course.wanted, unfinished, ordered=self._state.order.ordered and in_order)

    def _add(self, task: Task) -> bool:
        """Put a task's work on top of the queue; False when it must wait for what is before it."""
        order, last, on = self._state.order, self._state.histories[task.id][-1], self.queue.end
        if last.proven_on == on:
            self.queue.add(QueuedMerge(task=task.id, on=on, commit=last.attempt.commit))
            return True
        rebased = load(MergeResult, steps.couple(dump(order), dump(task), dump(last), on)).result
        if isinstance(rebased, Rebased):
            proving = "" if rebased.tree == last.attempt.evidence.tree else self._prove(task, last, on, rebased.tree)
            self.queue.add(QueuedMerge(task=task.id, on=on, commit=rebased.commit, proving=proving))
            return True
        if isinstance(rebased, Conflict) and not self.queue.queued:
            self._redo(task, rebased)
            return True
        return False

    def _prove(self, task: Task, last: FinishedAttempt, on: str, tree: str) -> str:
        workflow_id = self._state.next_id(task.id, "prove")
        order = dump(self._state.order)
        durable.start(workflow_id, self._state.flows.prove, order, dump(task), dump(last), on, tree)
        return workflow_id

    def _merge_first(self, task_id: str) -> None:
        task, last = self._state.plan.task(task_id), self._state.histories[task_id][-1]
        merge = load(MergeResult, steps.land(dump(self._state.order), dump(task), dump(last), self.queue.head)).result
        match merge:
            case Landed():
                self.queue.merged(merge.commit)
                self._tell_milepost(task, last, merge.commit)
                evidence = last.attempt.evidence
                self._state.end(task, evidence.verdict, merge.commit, end_reason(evidence))
            case Unproven():
                self.queue.restart()
            case Conflict():
                self._redo(task, merge)
            case Rebased():
                raise AssertionError("the step that merges rebases nothing")
            case _ as never:
                assert_never(never)

    def _tell_milepost(self, task: Task, last: FinishedAttempt, commit: str) -> None:
        run, tree = self._state.order.run, last.attempt.evidence.tree
        made = MilepostMade(run=run, task=task.id, attempt=last.attempt.number, commit=commit, tree=tree)
        self._state.services.emit(made, f"{task.id}/milepost")

    def _redo(self, task: Task, conflict: Conflict) -> None:
        """Let the agent that wrote a change do it again on top of what it conflicts with."""
        self.queue.leave(task.id)
        self.contested[task.id] = conflict.paths
        refused = _conflicting(self._state.histories[task.id][-1], conflict)
        self._state.correct(task.id, refused, self.queue.head)
        self._state.requeue(task)


def _conflicting(last: FinishedAttempt, conflict: Conflict) -> Evidence:
    paths = ", ".join(conflict.paths)
    summary = f"other tasks changed the same lines of {paths} meanwhile: the task is redone on top of theirs"
    merge = CheckResult(name="merge", outcome="failed", summary=summary, log=conflict.shown)
    return judge(last.attempt.evidence.tree, (*last.attempt.evidence.checks, merge))
