"""How a run and its tasks are told of when they are over. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from milepost.core.events import RunFinished, RunStarted, Steered, TaskFinished, TaskSummary
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.engine.records.run_spec import BranchMove, FinishedAttempt, RunSpec
from milepost.engine.terminals.isolation import hold_of
from milepost.workspace.mileposts import run_branch


def started(order: RunSpec) -> RunStarted:
    return RunStarted(
        run=order.run,
        branch=branch_of(order),
        base=order.base,
        base_name=order.user.branch,
        ahead=order.ahead,
        agent=order.agent,
        trust=str(hold_of(order)),
        parallel=order.parallel,
        tasks=order.tasks,
    )


def not_started(order: RunSpec) -> Steered | None:
    """Which tasks are left alone because a person was asked about their work before, told once."""
    if not order.not_started:
        return None
    names, are = ", ".join(order.not_started), "wait" if len(order.not_started) > 1 else "waits"
    what = f"{names} {are} for your answer and {'are' if are == 'wait' else 'is'} not started again: milepost gates"
    return Steered(run=order.run, task="", what=what)


def task_finished(order: RunSpec, end: TaskSummary, tries: tuple[FinishedAttempt, ...], agent: str) -> TaskFinished:
    attempts = [one.attempt for one in tries]
    checks = attempts[-1].evidence.checks if attempts else ()
    return TaskFinished(
        run=order.run,
        task=end.id,
        title=end.title,
        agent=agent,
        verdict=end.verdict,
        commit=end.commit,
        attempts=end.attempts,
        reason=end.reason,
        proposal=end.proposal,
        confidence=attempts[-1].evidence.confidence if attempts else 0.0,
        checks=sum(check.outcome == "passed" for check in checks),
        tests=len({case.id for check in checks for case in check.cases if case.outcome == "passed"}),
        duration_ms=sum(attempt.duration_ms for attempt in attempts),
        cost_usd=sum(attempt.outcome.cost_usd for attempt in attempts),
    )


def run_finished(
    order: RunSpec, ends: tuple[TaskSummary, ...], tries: list[FinishedAttempt], head: str, arrival: BranchMove
) -> RunFinished:
    return RunFinished(
        run=order.run,
        branch=branch_of(order),
        tasks=ends,
        cost_usd=round(sum(one.attempt.outcome.cost_usd for one in tries), 6),
        duration_ms=sum(one.attempt.duration_ms for one in tries),
        head=head,
        fast_forwarded=arrival.fast_forwarded,
        by_hand=arrival.by_hand,
        why=arrival.why,
    )


def summary(
    task: Task,
    tries: tuple[FinishedAttempt, ...],
    verdict: Verdict | None,
    commit: str | None,
    reason: str,
    proposal: str = "",
) -> TaskSummary:
    return TaskSummary(
        id=task.id,
        title=task.title,
        verdict=verdict,
        commit=commit,
        attempts=len(tries),
        reason=reason,
        proposal=proposal,
    )


def with_members(end: TaskSummary, task: Task, titles: Mapping[str, str]) -> tuple[TaskSummary, ...]:
    """The end of a task, and of each that was done in the same attempts."""
    with_it = f"done with {task.id}" if end.commit else f"tried with {task.id}: {end.reason}"
    return (end, *(replace(end, id=name, title=titles[name], reason=with_it, proposal="") for name in task.members))


def branch_of(order: RunSpec) -> str:
    return run_branch(order.run).removeprefix("refs/heads/")
