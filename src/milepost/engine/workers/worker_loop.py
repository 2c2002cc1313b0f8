"""A worker's turns: what it takes, begins, finishes and leaves.

Whatever fails on this machine is given back, and left to others for a while: it is no verdict about the work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from milepost.core.errors import GitFailed, MilepostError, StateUnwritable
from milepost.core.events import Event, WorkerChanged
from milepost.engine.records.journal import Journal
from milepost.engine.records.portable_rows import refuse_noticed
from milepost.engine.records.run_spec import VERSION, RunSpec
from milepost.engine.records.values_json import load
from milepost.engine.records.work_queue import Offer, Offers, choose
from milepost.engine.records.worker_lease import Worker
from milepost.engine.run import durable, workflows
from milepost.engine.workers import dbos_queue
from milepost.engine.workers.reaper import Reaper
from milepost.engine.workers.run_clone import WorkerFolder, clear, open_workplace

TURN_S = 0.15  # between two looks at what is offered
IDLE_S = 20.0  # before a run that gives nothing to do is left
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0  # before a run that failed on this machine is tried again

OnEvent = Callable[[Event], None]


class WorkerTurns:
    """What a worker does: turn after turn it takes, begins, finishes and leaves work."""

    def __init__(
        self, site: WorkerFolder, worker: Worker, journal: Journal, offers: Offers, reaper: Reaper, on_event: OnEvent
    ) -> None:
        self._site, self._worker, self._journal = site, worker, journal
        self._offers, self._reaper, self._on_event = offers, reaper, on_event
        self._places: dict[str, OpenRun] = {}
        self._given: set[str] = set()
        self._barred: dict[str, Bar] = {}
        self._stopping = False
        self._interruptions = self._heard = 0

    def interrupt(self) -> int:
        """Ask to stop, also from within a signal; it is heard at the next turn. Gives how often that was asked."""
        self._interruptions += 1
        return self._interruptions

    def stay(self, reap_every_s: float) -> None:
        """Take turns until interrupted, and then until all that is under way has parked."""
        reap_at = 0.0
        self._clear()
        while not (self._stopping and all(desk.quiet for desk in self._places.values())):
            while self._heard < self._interruptions:
                self._heard += 1
                self._stop()
            with suppress(StateUnwritable):  # the database is away: how long that may be is the lease's to say
                self._turn()
                if time.monotonic() >= reap_at:
                    self._reaper.reap()
                    reap_at = time.monotonic() + reap_every_s
            time.sleep(TURN_S)

    def leave(self) -> None:
        """Leave all runs and give back what is held."""
        for run_id in [*self._places]:
            self._close(run_id)
        self._offers.give_back(self._worker.id)

    def kill(self) -> None:
        """End whatever runs in the sandboxes, now; nothing may be recorded any more."""
        desks = list(self._places.values())
        for desk in desks:
            desk.place.services.parking.stop(at_once=True)
        endings = [threading.Thread(target=desk.kill, daemon=True) for desk in desks]
        for ending in endings:
            ending.start()
        for ending in endings:
            ending.join(5.0)

    def _stop(self) -> None:
        for desk in self._places.values():
            desk.place.services.parking.stop(at_once=self._stopping)
            if self._stopping:
                desk.kill()
        self._stopping = True

    def _turn(self) -> None:
        refuse_noticed()
        held = self._without_ended(self._offers.held_by(self._worker.id))
        self._leave_what_is_over({offer.run for offer in held})
        if not self._stopping:
            barred = {run_id for run_id, bar in self._barred.items() if bar.until > time.monotonic()}
            for offer in held:
                if offer.workflow not in self._given and offer.run not in barred:
                    self._begin(offer)
            for offer in choose(self._offers.free(), held, self._worker, barred):
                if self._offers.take(offer.workflow, self._worker.id):
                    self._begin(offer)

    def _without_ended(self, held: tuple[Offer, ...]) -> tuple[Offer, ...]:
        over = dbos_queue.ended([offer.workflow for offer in held])
        for workflow in over:
            self._offers.withdraw(workflow)
            self._given.discard(workflow)
            self._barred.pop(workflow.partition("/")[0], None)
        return tuple(offer for offer in held if offer.workflow not in over)

    def _begin(self, offer: Offer) -> None:
        """Begin with what was taken; what cannot be begun here is given back, and not taken again for a while."""
        if offer.run not in self._places and not self._open(offer.run):
            return
        desk = self._places[offer.run]
        desk.busy_at = time.monotonic()
        if not dbos_queue.ended([offer.workflow]):
            dbos_queue.deliver(offer.workflow, self._worker, workflows.roadmap, desk.order)
        self._given.add(offer.workflow)

    def _open(self, run_id: str) -> bool:
        record = next((record for record in self._journal.runs() if record.run == run_id), None)
        if record is None or not record.unfinished or record.version != VERSION:
            self._offers.withdraw_run(run_id)
            return False
        stack = ExitStack()
        try:
            order = load(RunSpec, record.order)
            opened = open_workplace(self._site, self._worker, self._offers, order, self._on_event)
            place = stack.enter_context(opened)
        except (MilepostError, OSError) as error:
            stack.close()
            self._bar(run_id, error)
            return False
        durable.open_place(run_id, place)
        self._places[run_id] = OpenRun(place=place, order=record.order, stack=stack)
        return True

    def _leave_what_is_over(self, wanted: set[str]) -> None:
        """Leave runs that stopped here, that nobody offers any more, or that have given nothing to do for a while."""
        for run_id, desk in [*self._places.items()]:
            parking = desk.place.services.parking
            if run_id not in wanted and not desk.quiet:
                parking.stop(at_once=True)
                desk.kill()
            if parking.stopping and desk.quiet and not self._stopping:
                self._close(run_id)
                if parking.failure is not None:
                    self._bar(run_id, parking.failure)
                elif run_id in wanted:
                    self._offers.withdraw_run(run_id)  # it was asked to stop, and says so by having nothing on offer
            elif run_id in wanted:
                desk.busy_at = time.monotonic()
            elif time.monotonic() - desk.busy_at > IDLE_S:
                self._close(run_id)

    def _close(self, run_id: str) -> None:
        desk = self._places[run_id]
        durable.drain(desk.place.services, desk.kill)
        durable.close_place(run_id)
        del self._places[run_id]
        self._given = {workflow for workflow in self._given if workflow.partition("/")[0] != run_id}
        with suppress(MilepostError, OSError):  # what is left over is swept when the run is opened again
            desk.stack.close()
        self._clear()

    def _clear(self) -> None:
        """Remove the clones of runs that are over."""
        kept = {path.name for path in self._site.home.iterdir() if (path / "tree").is_dir()} - set(self._places)
        if kept:
            unfinished = {record.run for record in self._journal.runs() if record.unfinished}
            for run_id in kept - unfinished:
                clear(self._site, run_id)

    def _bar(self, run_id: str, error: Exception) -> None:
        """Give back what is held of a run that this machine cannot do now, and leave it to others for a while."""
        pause_s = min(self._barred[run_id].pause_s * 2, LONGEST_PAUSE_S) if run_id in self._barred else FIRST_PAUSE_S
        self._barred[run_id] = Bar(until=time.monotonic() + pause_s, pause_s=pause_s)
        if isinstance(error, GitFailed):
            clear(self._site, run_id)  # whatever is wrong with the clone, the next one is another
        self._offers.give_back(self._worker.id, run_id)
        said = error.message if isinstance(error, MilepostError) else str(error)
        told = WorkerChanged(run=run_id, worker=self._worker.name, what=f"cannot continue here: {said}")
        self._journal.append(told, f"worker/{self._worker.id}/barred/{time.time_ns()}")
        self._on_event(told)


@dataclass(slots=True, kw_only=True)
class OpenRun:
    """A run that is open here: where its workflows find themselves, and since when they have nothing to do."""

    place: durable.RunContext
    order: dict[str, object]
    stack: ExitStack
    busy_at: float = field(default_factory=time.monotonic)

    @property
    def quiet(self) -> bool:
        return self.place.services.parking.quiet

    def kill(self) -> None:
        self.place.services.sandbox.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A run that failed on this machine is not taken again before; each time it waits longer."""

    until: float
    pause_s: float
