"""A worker: takes what is offered on a database as far as its labels and capacity go, until it is stopped.

Whatever happens to it, another one goes on: what it holds is written down, what it records is fenced, and what it
made is on the remote before it is recorded.
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from milepost.core.errors import EngineBusy, LeaseLost, VersionDiffers
from milepost.core.events import Event
from milepost.engine.project.state_lock import StateLock
from milepost.engine.records import worker_lease
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_spec import VERSION
from milepost.engine.records.work_queue import Offers
from milepost.engine.records.worker_lease import BEAT, Lease, Worker
from milepost.engine.workers import dbos_queue
from milepost.engine.workers.reaper import Reaper
from milepost.engine.workers.run_clone import WorkerFolder
from milepost.engine.workers.worker_loop import WorkerTurns
from milepost.engine.workers.worker_settings import Hire, keep_secret
from milepost.store.database import Database, open_database
from milepost.workspace.checkout import workers_folder

STOPS = 2  # after the steps in flight, and at once
INTERRUPTED = 130

OnEvent = Callable[[Event], None]

_VERSIONS = """
select distinct version from workers where gone = '' and extract(epoch from clock_timestamp()) - beat_at < lease_s
"""


def work(
    hire: Hire, on_event: OnEvent, lost: Callable[[LeaseLost], None], ready: Callable[[Worker], None] = lambda _: None
) -> None:
    """Work until interrupted; a second interruption does not wait for the steps in flight, a third for nothing.

    `ready` is called once it is among the others. `lost` is called when it was taken over from, after its sandboxes
    are dead; the process ends then.
    """
    worker = Worker(name=hire.name or socket.gethostname(), capacity=hire.capacity, version=VERSION, labels=hire.labels)
    keep_secret(hire)
    with ExitStack() as stack:
        database = stack.enter_context(closing(open_database(hire.database)))
        journal, offers = Journal(database), Offers(database)
        refuse_other_version(database, journal)
        site = WorkerFolder(
            home=_home(worker, hire.remote),
            database=hire.database,
            remote=hire.remote,
            settings=hire.settings.absolute(),
            agents=hire.agents,
        )
        stack.enter_context(_alone(site.home, worker))
        crew = WorkerTurns(site, worker, journal, offers, Reaper(database, journal, offers, worker.id), on_event)

        def stop_at_once(failure: LeaseLost) -> None:
            crew.kill()
            lost(failure)
            os._exit(LeaseLost.exit_code)

        held = Lease(hire.database, worker, hire.lease_s, stop_at_once)
        stack.enter_context(dbos_queue.joined(hire.database, worker))
        held.join(database)
        worker_lease.hold(held)
        ready(worker)
        try:
            with _interruptible(crew):
                crew.stay(BEAT * hire.lease_s)
        finally:
            crew.leave()
            held.leave(database)
            worker_lease.hold(None)


def refuse_other_version(database: Database, journal: Journal) -> None:
    """Raise where runs that are not over, or workers, record another shape of steps than this version does."""
    versions = {row[0] for row in database.read(_VERSIONS)}
    versions |= {record.version for record in journal.runs() if record.unfinished}
    if others := sorted(versions - {VERSION}):
        raise VersionDiffers(
            f"this database has unfinished runs of format {', '.join(others)}, but this worker uses {VERSION}",
            "finish those runs with the version that started them, or use another database for this worker",
        )


def _home(worker: Worker, remote: str) -> Path:
    return workers_folder() / f"{worker.name}-{hashlib.sha256(remote.encode()).hexdigest()[:8]}"


@contextmanager
def _interruptible(crew: WorkerTurns) -> Iterator[None]:
    """Signals ask the crew to stop. They raise nothing, which would tear what the database is in the middle of."""

    def ask(_: int, __: object) -> None:
        if crew.interrupt() > STOPS:
            os._exit(INTERRUPTED)  # whatever it is that does not end, the others take over

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, what in before.items():
            signal.signal(number, what)


@contextmanager
def _alone(home: Path, worker: Worker) -> Iterator[None]:
    """The worker's folder, which is no other's."""
    home.mkdir(parents=True, exist_ok=True)
    try:
        lock = StateLock(home).__enter__()
    except EngineBusy as error:
        raise EngineBusy(
            f"a worker named {worker.name!r} is already running on this machine", "use another name: --name NAME"
        ) from error
    try:
        yield
    finally:
        lock.__exit__(None, None, None)
