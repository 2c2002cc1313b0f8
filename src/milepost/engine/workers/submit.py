"""Submitting a run to workers: its base goes to the remote, its order to the database, its events come back.

Nothing of it needs this process again: whoever follows may leave and look again from anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import GitFailed, RunUnfinished
from milepost.core.events import Event, RunFinished, WorkerChanged
from milepost.engine.agents.remote_agents import AtWorkers
from milepost.engine.gates.rules import approval_named
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.work_server import WorkServer
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import LAST, _opened, _submitted
from milepost.engine.records.run_request import NothingToDo, RunRequest
from milepost.engine.records.run_spec import VERSION, RunSpec
from milepost.engine.records.values_json import dump
from milepost.engine.records.values_json import load as load_value
from milepost.engine.records.work_queue import Offer, Offers
from milepost.engine.run import prepare
from milepost.engine.run.start import flags_of, refuse_other
from milepost.engine.workers.fetch_result import brought
from milepost.store.database import Database
from milepost.workspace.mileposts import run_branch
from milepost.workspace.remote import Remote, base_ref

PATIENCE_S = 15.0

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A run that goes on at the workers, whoever follows it or not; `again` is the command that follows it again."""

    run: str
    again: str = "milepost resume"


Submitted = RunFinished | Elsewhere | NothingToDo


def run(wish: RunRequest, exchange: WorkServer, on_event: OnEvent) -> Submitted:
    """Submit a run and follow it; one that was submitted from here before and is not over is followed instead."""
    project = Project.find(wish.roadmap)
    settings = load(project.roadmap.parent, flags_of(wish), uses=EVERYTHING)
    with _opened(exchange) as (database, journal):
        before = _submitted(project, journal)
        if before is not None and before.unfinished and not wish.new:
            _refuse_other(before, wish, _flag(project, exchange))
            return _follow(project, exchange, database, journal, before.run, on_event)
        drafted = prepare.draft(project, settings, wish, AtWorkers())
        if isinstance(drafted, NothingToDo):
            return drafted
        with project.lock():
            order = _placed(project, exchange, lambda: prepare.order(project, settings, drafted, journal))
            if isinstance(order, NothingToDo):
                return order
            if before is not None and before.unfinished:
                _withdraw(database, journal, before.run)
            _enter(project, database, journal, order)
        return _follow(project, exchange, database, journal, order.run, on_event)


def resume(roadmap: Path | None, exchange: WorkServer, on_event: OnEvent) -> Submitted:
    """Look again at the run that was submitted last; one that was stopped is offered again."""
    project = Project.find(roadmap)
    with _opened(exchange) as (database, journal):
        record = _submitted(project, journal)
        if record is None:
            return NothingToDo(reason="no run submitted from here yet")
        if record.version != VERSION and record.unfinished:
            raise RunUnfinished(
                f"run {record.run} was submitted by another version of milepost "
                f"(format {record.version}, here {VERSION})",
                "follow it with that version, or abandon it: milepost run --new",
            )
        if record.unfinished:
            Offers(database).make(Offer(workflow=record.run, run=record.run, counts=False))
        return _follow(project, exchange, database, journal, record.run, on_event)


def stop(roadmap: Path | None, exchange: WorkServer) -> str | None:
    """Take back the run that was submitted last; the workers leave it, and `resume` offers it again."""
    project = Project.find(roadmap)
    with _opened(exchange) as (database, journal):
        record = _submitted(project, journal)
        if record is None or not record.unfinished:
            return None
        Offers(database).withdraw_run(record.run)
        return record.run


def _flag(project: Project, exchange: WorkServer) -> str:
    """What a command that is printed needs to find the database again; never its address, which may hold a password."""
    return "" if load(project.roadmap.parent).run.database == exchange.database else " --database URL"


def _refuse_other(record: RunRecord, wish: RunRequest, flag: str) -> None:
    """As for a run on this machine; here its budget and its gates stay as they were submitted, too."""
    advice = f"milepost resume{flag} follows it; milepost run{flag} --new abandons it and starts another"
    try:
        refuse_other(record, wish)
    except RunUnfinished as error:
        raise RunUnfinished(error.message, advice) from None
    order = load_value(RunSpec, record.order)
    approve = approval_named(wish.approve) if wish.approve else None
    asked = (("budget", wish.budget_usd, order.budget.usd), ("approve", approve, order.approve))
    differs = [f"--{name} {value}" for name, value, was in asked if value not in (None, was)]
    differs += ["--ordered"] if wish.ordered and not order.ordered else []
    if differs:
        raise RunUnfinished(f"run {order.run} is unfinished, and was not started with {', '.join(differs)}", advice)


def _placed(project: Project, exchange: WorkServer, make: Callable[[], RunSpec | NothingToDo]) -> RunSpec | NothingToDo:
    """The order of a run whose branch is on the remote, at its base, and was nobody's before."""
    far = _far(project, exchange)
    while True:
        order = make()
        if isinstance(order, NothingToDo):
            return order
        if far.swap(run_branch(order.run), order.base, None):
            far.hold([(order.base, base_ref(order.run))])
            return order
        if far.look(run_branch(order.run)) is None:
            raise GitFailed(
                "could not push the branch of the run to the remote",
                "check that you may push to refs/heads/milepost there",
            )


def _enter(project: Project, database: Database, journal: Journal, order: RunSpec) -> None:
    """Write the order down and offer the run; its base is on the remote by now."""
    make_state(project.state)
    (project.state / LAST).write_text(f"{order.run}\n")
    offers = Offers(database)

    def enter() -> None:
        if all(record.run != order.run for record in journal.runs()):
            journal.open_run(order.run, VERSION, dump(order))
            offers.make(Offer(workflow=order.run, run=order.run, counts=False))

    database.together("submit", enter)


def _withdraw(database: Database, journal: Journal, run_id: str) -> None:
    Offers(database).withdraw_run(run_id)
    journal.leave_run(run_id)


def _follow(
    project: Project, exchange: WorkServer, database: Database, journal: Journal, run_id: str, on_event: OnEvent
) -> RunFinished | Elsewhere:
    """Tell the events of a run until it is over, and bring what it made; to leave it changes nothing for it."""
    elsewhere = Elsewhere(run=run_id, again=f"milepost resume{_flag(project, exchange)}")
    finished = None
    try:
        for entry in journal.follow(run_id, stopped=Wanting(database, run_id, on_event)):
            if isinstance(entry.event, RunFinished):
                finished = entry.event
            on_event(entry.event)
    except KeyboardInterrupt:
        return elsewhere
    if finished is None:
        return elsewhere
    return brought(project, _far(project, exchange), exchange.remote, database, finished)


def _far(project: Project, exchange: WorkServer) -> Remote:
    return Remote(exchange.remote, project.repository.top, patience_s=PATIENCE_S)


NO_WORKER = "no worker has joined yet: start one with milepost worker --database URL --remote GIT_URL"


class Wanting(threading.Event):
    """Whoever follows never stops by it: each time it is waited for, it says once what the run wants workers for."""

    def __init__(self, database: Database, run: str, on_event: Callable[[Event], None]) -> None:
        super().__init__()
        self._database, self._run, self._on_event = database, run, on_event
        self._said: set[str] = set()

    def wait(self, timeout: float | None = None) -> bool:
        for what in wanted(self._database, self._run):
            if what not in self._said:
                self._said.add(what)
                self._on_event(WorkerChanged(run=self._run, worker="", what=what))
        return super().wait(timeout)


def wanted(database: Database, run: str) -> list[str]:
    """What a run waits for that no worker offers: any worker at all, or one with the labels that a task needs."""
    labels = [set(words.split()) for (words,) in database.read("select labels from workers where gone = ''")]
    if not labels:
        return [NO_WORKER]
    sql = "select workflow, needs from offers where run = ? and worker = '' and needs <> '' order by seq"
    free = [(workflow.split("/")[1], needs.split()) for workflow, needs in database.read(sql, run)]
    lacking = [(task, needs) for task, needs in free if not any(set(needs) <= offered for offered in labels)]
    return [f"{task} waits for a worker with {', '.join(needs)}" for task, needs in lacking]
