"""The parent of a run and its branch: what is proven where it will stand lands, what is verified waits behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from milepost.core.events import MilepostMade
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, Verdict, judge
from milepost.engine.records.run_spec import Conflict, Coupled, Landed, Landing, Try, Unproven
from milepost.engine.records.values_json import dump, load
from milepost.engine.run import durable, steps
from milepost.engine.run.merge_train import Car

if TYPE_CHECKING:
    from milepost.engine.run.scheduler import Journey


def advance(journey: Journey, *, in_order: bool = True) -> None:
    """Land what is proven where it will stand; couple what is verified, and have it proven there."""
    while True:
        while task_id := journey.track.train.next_to_land:
            _land_first(journey, task_id)
        if (cars := journey.track.train.cars) and cars[0].doubtful:  # all before it landed: it is its own fault
            journey.settle(cars[0].task, journey.doubts[cars[0].task], cars[0].on)
            continue
        if not (task_id := _next_to_couple(journey, in_order=in_order)) or not _couple(
            journey, journey.plan.task(task_id)
        ):
            return


def _next_to_couple(journey: Journey, *, in_order: bool) -> str:
    if any(car.doubtful for car in journey.track.train.cars) or len(journey.track.train.proving) >= max(
        2, journey.course.parallel
    ):
        return ""
    stuck = {task_id for task_id, waits_for in journey.waiting().items() if waits_for}
    unfinished = frozenset(set(journey.course.wanted) - set(journey.ended) - stuck)
    return journey.track.next_to_couple(journey.course.wanted, unfinished, ordered=journey.order.ordered and in_order)


def _couple(journey: Journey, task: Task) -> bool:
    """Put a task's work on top of the train; False when it must wait for what is before it."""
    last, on = journey.histories[task.id][-1], journey.track.end
    if last.proven_on == on:
        journey.track.couple(Car(task=task.id, on=on, commit=last.attempt.commit))
        return True
    coupled = load(Landing, steps.couple(dump(journey.order), dump(task), dump(last), on)).result
    if isinstance(coupled, Coupled):
        proving = "" if coupled.tree == last.attempt.evidence.tree else _prove(journey, task, last, on, coupled.tree)
        journey.track.couple(Car(task=task.id, on=on, commit=coupled.commit, proving=proving))
        return True
    if isinstance(coupled, Conflict) and not journey.track.train.cars:
        _redo(journey, task, coupled)
        return True
    return False


def _prove(journey: Journey, task: Task, last: Try, on: str, tree: str) -> str:
    workflow_id = journey.next_id(task.id, "prove")
    durable.start(workflow_id, journey.flows.prove, dump(journey.order), dump(task), dump(last), on, tree)
    return workflow_id


def _land_first(journey: Journey, task_id: str) -> None:
    task, last = journey.plan.task(task_id), journey.histories[task_id][-1]
    landing = load(Landing, steps.land(dump(journey.order), dump(task), dump(last), journey.track.head)).result
    match landing:
        case Landed():
            journey.track.landed(landing.commit)
            _tell_milepost(journey, task, last, landing.commit)
            journey.end(task, Verdict.PASSED, landing.commit, last.attempt.evidence.reason)
        case Unproven():
            journey.track.uncouple()
        case Conflict():
            _redo(journey, task, landing)
        case Coupled():
            raise AssertionError("landing couples nothing")
        case _ as never:
            assert_never(never)


def _tell_milepost(journey: Journey, task: Task, last: Try, commit: str) -> None:
    evidence = last.attempt.evidence
    made = MilepostMade(
        run=journey.order.run, task=task.id, attempt=last.attempt.number, commit=commit, tree=evidence.tree
    )
    journey.here.emit(made, f"{task.id}/milepost")


def _redo(journey: Journey, task: Task, conflict: Conflict) -> None:
    """Let the agent that wrote a change do it again on top of what it conflicts with."""
    journey.track.leave(task.id)
    journey.contested[task.id] = conflict.paths
    journey.correct(task.id, _conflicting(journey.histories[task.id][-1], conflict), journey.track.head)
    journey.work_on(task)


def _conflicting(last: Try, conflict: Conflict) -> Evidence:
    paths = ", ".join(conflict.paths)
    summary = f"other tasks changed the same lines of {paths} meanwhile: do it again on top of theirs"
    merge = CheckResult(name="merge", outcome="failed", summary=summary, log=conflict.shown)
    return judge(last.attempt.evidence.tree, (*last.attempt.evidence.checks, merge))
