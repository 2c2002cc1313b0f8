"""DBOS, as this engine uses it: the only module that knows how a step is made durable.

On one machine each run has an executor id of its own, so that opening one run wakes no other. Where workers share
their runs, each has a queue of its own, and what is started is offered to all of them. A step or workflow never ends
in a recorded error: what fails is the machine, not the work, and the run parks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from dbos import DBOS, SetWorkflowID, WorkflowStatus
from dbos import error as dbos_errors

from milepost.core.errors import MachineFailed, MilepostError
from milepost.engine.records import worker_lease
from milepost.engine.records.dbos_setup import configure, in_our_words, launch, sqlite_engine, take_up
from milepost.engine.records.gates import given_answers
from milepost.engine.records.portable_rows import refuse_noticed
from milepost.engine.records.suspend import Suspended
from milepost.engine.records.work_queue import Offer, Offers
from milepost.engine.services import RunServices
from milepost.store.kill_points import reached, trace
from milepost.workspace.remote import SharedMileposts

P = ParamSpec("P")
R = TypeVar("R")

SHORTEST_PAUSE_S = 0.001  # between a workflow's end and its record
UNSEEN_PAUSE_S = 0.25  # for an end that this process did not see: before a restart, or on another machine

WAITING = "waiting"  # the queue of what is offered, to which nobody listens


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What a run shares with other machines: its work, and what its recorded results name."""

    offers: Offers
    mileposts: SharedMileposts

    def bring(self, told: object) -> None:
        """Before a step: have here what its arguments name."""
        worker_lease.require()
        self.mileposts.bring(told)

    def share(self, told: object) -> None:
        """Before the result of a step is recorded: have all that it names on the remote."""
        self.mileposts.share(told)
        worker_lease.require()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """Where the workflows of one run find themselves."""

    services: RunServices
    sharing: Sharing | None = None


_open: dict[str, RunContext] = {}  # by run
_steps: dict[str, int] = {}  # recorded in this process, finished before or now, by workflow


def place_of(workflow_id: str) -> RunContext:
    """Where a workflow finds itself: its id begins with that of its run."""
    try:
        return _open[workflow_id.partition("/")[0]]
    except KeyError:
        raise Suspended from None  # the run was left by this process while the workflow was on its way to it


def open_place(run: str, place: RunContext) -> None:
    """Let the workflows of a run find their rooms."""
    _open[run] = place


def close_place(run: str) -> None:
    """Leave a run: what comes for it now parks."""
    _open.pop(run, None)


def close_all() -> None:
    """Leave all runs."""
    _open.clear()
    _steps.clear()


def step(function: Callable[Concatenate[RunServices, P], R]) -> Callable[P, R]:
    """A function whose result is recorded: once it has finished, it never runs again."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        place = place_of(DBOS.workflow_id or "")
        services, sharing = place.services, place.sharing
        with parking_on_failure(services), services.parking.step():
            if sharing is not None:
                sharing.bring([args, kwargs])
            trace(_step_name(function.__name__))
            result = function(services, *args, **kwargs)
            if sharing is not None:
                sharing.share(result)
            return result

    del guarded.__wrapped__  # DBOS would read the signature with the rooms in it
    recorded = DBOS.step(name=function.__name__)(guarded)

    def marked(*args: P.args, **kwargs: P.kwargs) -> R:
        result = recorded(*args, **kwargs)
        name, workflow_id = _step_name(function.__name__), DBOS.workflow_id or ""
        _steps[workflow_id] = _steps.get(workflow_id, 0) + 1
        reached(name)
        return result

    return marked


def _step_name(function: str) -> str:
    """What the next step of this workflow is called at its boundary: the same in each life of the run."""
    workflow_id = DBOS.workflow_id or ""
    return f"{workflow_id} {_steps.get(workflow_id, 0) + 1} {function}"


def workflow(function: Callable[Concatenate[RunServices, P], R]) -> Callable[P, R]:
    """A function made of steps, which goes on after a crash where it was."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        workflow_id = DBOS.workflow_id or ""
        place = place_of(workflow_id)
        services, sharing = place.services, place.sharing
        _steps.pop(workflow_id, None)
        with services.parking.workflow(workflow_id), parking_on_failure(services):
            if sharing is not None:
                sharing.mileposts.refresh()  # another machine may have begun it
            return function(services, *args, **kwargs)

    del guarded.__wrapped__
    return DBOS.workflow(name=function.__name__, max_recovery_attempts=None)(guarded)


@contextmanager
def parking_on_failure(services: RunServices) -> Iterator[None]:
    try:
        yield
    except Suspended:
        raise
    except dbos_errors.DBOSWorkflowConflictIDError:
        raise Suspended from None  # another machine does it now, and records what comes of it
    except BaseException as error:  # also a listener that exits: its thread would end and nobody hear of it
        services.parking.fail(in_our_words(error))
        raise Suspended from error


def start(workflow_id: str, function: Callable[..., Any], *args: Any) -> None:
    """Start a workflow under an id, or offer it to the workers; one that was started before is left as it is."""
    place = place_of(workflow_id)
    place.services.parking.expect(workflow_id)
    with SetWorkflowID(workflow_id):
        if place.sharing is None:
            DBOS.start_workflow(function, *args)
            return
        DBOS.enqueue_workflow(WAITING, function, *args)
    place.sharing.offers.make(offer_of(workflow_id, args))


def offer_of(workflow_id: str, args: tuple[Any, ...]) -> Offer:
    """How a workflow is offered: with what its task needs of a worker, where it is about a task."""
    task = next((arg for arg in args if isinstance(arg, dict) and "needs" in arg), None)
    needs = tuple(task["needs"]) if task is not None else ()
    return Offer(workflow=workflow_id, run=workflow_id.partition("/")[0], needs=needs, counts=task is not None)


@step
def news(
    services: RunServices, workflow_ids: list[str], heard: int, held: Sequence[str] = (), *, leaving: bool
) -> dict[str, Any]:
    """What happens next: the first of several workflows to finish, an answer about held work, or what a person asked
    of the run since `heard`.

    Recorded, so that a resumed run sees the same things in the same order. A run that is `leaving` parks when there
    is nothing new.
    """
    pause_s, unseen = SHORTEST_PAUSE_S, True
    while True:
        if workflow_ids:
            returned = services.parking.wait_for_return(workflow_ids, UNSEEN_PAUSE_S)
        else:
            returned = False
            services.parking.wait(UNSEEN_PAUSE_S)
        refuse_noticed()
        if workflow_ids and (returned or unseen) and (finished := _first_finished(workflow_ids)) is not None:
            return {"workflow_id": finished.workflow_id, "result": finished.output}
        unseen = services.parking.patient
        if services.parking.stopping:
            raise Suspended
        if (asked := services.books.steering.since(heard)) is not None:
            return asked
        if answers := given_answers(services.books.gates, (DBOS.workflow_id or "").partition("/")[0], held):
            return answers[0]
        if leaving or (not services.stays and _only_people(services, workflow_ids)):
            services.parking.stop()
            raise Suspended
        refuse_overdue(services, workflow_ids)
        if returned:
            services.parking.wait(pause_s)
            pause_s = min(pause_s * 1.5, UNSEEN_PAUSE_S)


def _only_people(services: RunServices, workflow_ids: list[str]) -> bool:
    """Whether all that a run waits for are answers that nobody has given yet."""
    if not workflow_ids or not all("/ask/" in workflow_id for workflow_id in workflow_ids):
        return False
    run = workflow_ids[0].partition("/")[0]
    waiting = [gate for gate in services.books.gates.waiting(run) if gate.kind != "held"]
    return len(waiting) >= len(workflow_ids)


def refuse_overdue(services: RunServices, workflow_ids: list[str]) -> None:
    """Raise when a workflow was not taken up, or its end not recorded: waiting for it would never end."""
    for workflow_id in workflow_ids:
        if problem := services.parking.overdue(workflow_id):
            raise MachineFailed(f"{workflow_id}: {problem}", "check that the disk is not full, then: milepost resume")


@contextmanager
def launched(database: Path, run: str, services: RunServices, interrupted: Callable[[], None]) -> Iterator[None]:
    """DBOS running in this process for one run; unfinished workflows of the run go on at once."""
    if _open:
        raise MilepostError("a run is already in progress in this process", "wait for it, or use another process")
    engine = sqlite_engine(database)
    open_place(run, RunContext(services=services))
    try:
        configure(f"sqlite:///{database}", executor_id=run, engine=engine)
        take_up(soon=services.books.journal.last_at(run) is not None)
        launch(engine, run)
        yield
    finally:
        drain(services, interrupted)
        DBOS.destroy(workflow_completion_timeout_sec=0)
        engine.dispose()
        close_all()


def result_of(run: str) -> Any:
    """The result of a workflow that has finished, else None."""
    finished = _first_finished([run])
    return finished.output if finished else None


def _first_finished(workflow_ids: list[str]) -> WorkflowStatus | None:
    """The first of some workflows whose end is recorded; its output is what was recorded, and nothing else."""
    finished = DBOS.list_workflows(workflow_ids=workflow_ids, status="SUCCESS", load_input=False, limit=1)
    return finished[0] if finished else None


def drain(services: RunServices, interrupted: Callable[[], None]) -> None:
    """Wait until no workflow of ours is in this process any more: each leaves at its next step."""
    services.parking.stop()
    while not services.parking.quiet:
        try:
            services.parking.wait(0.1)
        except KeyboardInterrupt:
            _heed(interrupted)


def _heed(interrupted: Callable[[], None]) -> None:
    """Do what an interruption asks for; another one that comes meanwhile asks again."""
    while True:
        try:
            interrupted()
            return
        except KeyboardInterrupt:
            continue


def wait_for(run: str, services: RunServices, look: Callable[[], None], interrupted: Callable[[], None]) -> Any:
    """The result of a run's workflow, or raises what parked it; `look` is called while waiting."""
    may_be_over = True  # before a restart, or since this process saw its end: else nobody needs to ask the database
    while True:
        try:
            look()
            if services.parking.stopping and services.parking.quiet:
                raise services.parking.failure or Suspended()
            refuse_noticed()
            if may_be_over and (result := result_of(run)) is not None:
                return result
            refuse_overdue(services, [run])
            may_be_over = services.parking.wait_for_return([run], 0.1)
        except KeyboardInterrupt:
            _heed(interrupted)
