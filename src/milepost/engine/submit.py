"""Submitting a run to workers: its base goes to the remote, its order to the database, its events come back.

Nothing of it needs this process again: whoever follows may leave and look again from anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.errors import AgentUnknown, GitFailed, RunUnfinished, SettingInvalid
from milepost.core.events import Event, RunFinished, WorkerChanged
from milepost.core.ports import Agent, Tools
from milepost.engine import prepare
from milepost.engine.journal import Journal, RunRecord
from milepost.engine.offers import Offer, Offers
from milepost.engine.order import VERSION, Order
from milepost.engine.prepare import NothingToDo, Wish
from milepost.engine.project import Project
from milepost.engine.settings import Settings, load
from milepost.engine.start import flags_of
from milepost.engine.state import StateLock, make_state
from milepost.engine.wire import dump
from milepost.store.database import Database, is_server, open_database
from milepost.workspace.git import Git
from milepost.workspace.mileposts import NOTES, run_branch
from milepost.workspace.remote import Remote, base_ref

LAST = "submitted"  # the file that remembers the last run that was submitted from here
PATIENCE_S = 15.0
NAME_IT = "name it: --database postgresql://user@host:5432/name, or MILEPOST_DATABASE in the environment"
BROUGHT_NOTES = "refs/notes/milepost-brought"

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A run that goes on at the workers, whoever follows it or not."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Where runs are submitted: the database and the remote that workers share."""

    database: str = field(repr=False)
    remote: str = field(default="origin", repr=False)


Submitted = RunFinished | Elsewhere | NothingToDo


def exchange_of(settings: Settings) -> Exchange | None:
    """Where the settings submit runs to; None where they are done on this machine."""
    if not settings.run.database:
        return None
    require_server(settings.run.database)
    return Exchange(database=settings.run.database, remote=settings.run.remote or "origin")


def exchange_named(roadmap: Path | None, database: str | None, remote: str | None) -> Exchange:
    """Where runs of a roadmap are submitted, by hand or by its settings."""
    settings = load(Project.find(roadmap).roadmap.parent, {"database": database, "remote": remote})
    exchange = exchange_of(settings)
    if exchange is None:
        raise SettingInvalid("no database is named that workers share", NAME_IT)
    return exchange


def require_server(database: str) -> None:
    """Raise unless an address is one of a server."""
    if not is_server(database):
        raise SettingInvalid("the database that workers share must be a PostgreSQL server", NAME_IT)


def run(wish: Wish, exchange: Exchange, on_event: OnEvent) -> Submitted:
    """Submit a run and follow it; one that was submitted from here before and is not over is followed instead."""
    project = Project.find(wish.roadmap)
    settings = load(project.roadmap.parent, flags_of(wish))
    with _opened(exchange) as (database, journal):
        before = _submitted(project, journal)
        if before is not None and before.unfinished and not wish.new:
            return _follow(project, exchange, database, journal, before.run, on_event)
        drafted = prepare.draft(project, settings, wish, _Anybody())
        if isinstance(drafted, NothingToDo):
            return drafted
        with StateLock(project.state):
            order = _placed(project, exchange, lambda: prepare.order(project, settings, drafted, journal))
            if isinstance(order, NothingToDo):
                return order
            if before is not None and before.unfinished:
                _withdraw(database, journal, before.run)
            _enter(project, database, journal, order)
        return _follow(project, exchange, database, journal, order.run, on_event)


def resume(roadmap: Path | None, exchange: Exchange, on_event: OnEvent) -> Submitted:
    """Look again at the run that was submitted last; one that was stopped is offered again."""
    project = Project.find(roadmap)
    with _opened(exchange) as (database, journal):
        record = _submitted(project, journal)
        if record is None:
            return NothingToDo(reason="no run was submitted from here yet")
        if record.version != VERSION and record.unfinished:
            raise RunUnfinished(
                f"run {record.run} was submitted by another version of milepost "
                f"(format {record.version}, here {VERSION})",
                "follow it with that version, or leave it: milepost run --new",
            )
        if record.unfinished:
            Offers(database).make(Offer(workflow=record.run, run=record.run, counts=False))
        return _follow(project, exchange, database, journal, record.run, on_event)


def stop(roadmap: Path | None, exchange: Exchange) -> str | None:
    """Take back the run that was submitted last; the workers leave it, and `resume` offers it again."""
    project = Project.find(roadmap)
    with _opened(exchange) as (database, journal):
        record = _submitted(project, journal)
        if record is None or not record.unfinished:
            return None
        Offers(database).withdraw_run(record.run)
        return record.run


def submitted(roadmap: Path | None, exchange: Exchange) -> tuple[RunRecord, bool] | None:
    """The run that was submitted last, and whether a worker is at it."""
    project = Project.find(roadmap)
    with _opened(exchange) as (database, journal):
        record = _submitted(project, journal)
        if record is None:
            return None
        held = database.read("select 1 from offers where run = ? and worker <> '' limit 1", record.run)
        return record, bool(held)


@contextmanager
def _opened(exchange: Exchange) -> Iterator[tuple[Database, Journal]]:
    with closing(open_database(exchange.database)) as database:
        Offers(database)
        yield database, Journal(database)


def _submitted(project: Project, journal: Journal) -> RunRecord | None:
    with suppress(OSError):
        run_id = (project.state / LAST).read_text().strip()
        return next((record for record in journal.runs() if record.run == run_id), None)
    return None


def _placed(project: Project, exchange: Exchange, make: Callable[[], Order | NothingToDo]) -> Order | NothingToDo:
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
                "the remote does not take the branch of a run", "see that you may push to refs/heads/milepost there"
            )


def _enter(project: Project, database: Database, journal: Journal, order: Order) -> None:
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
    project: Project, exchange: Exchange, database: Database, journal: Journal, run_id: str, on_event: OnEvent
) -> RunFinished | Elsewhere:
    """Tell the events of a run until it is over, and bring what it made; to leave it changes nothing for it."""
    try:
        if not database.read("select 1 from workers where gone = '' limit 1"):
            on_event(WorkerChanged(run=run_id, worker="nobody", what="is there yet: start one with milepost worker"))
        finished = None
        for entry in journal.follow(run_id):
            if isinstance(entry.event, RunFinished):
                finished = entry.event
            on_event(entry.event)
    except KeyboardInterrupt:
        return Elsewhere(run=run_id)
    if finished is None:
        return Elsewhere(run=run_id)
    return _brought(project, exchange, finished)


def _brought(project: Project, exchange: Exchange, finished: RunFinished) -> RunFinished:
    """The end of a run, with its branch and the notes of its mileposts in the user's repository."""
    branch, short = run_branch(finished.run), f"milepost/{finished.run}"
    far = _far(project, exchange)
    mine = f"refs/milepost/{finished.run}/*"
    try:
        if far.look(branch) is None:
            return replace(finished, fast_forwarded="", by_hand="")
        far.fetch(f"+{branch}:{branch}", f"+{mine}:{mine}", f"+{NOTES}*:{BROUGHT_NOTES}*")
    except GitFailed:
        by_hand = f"git fetch {exchange.remote} {short}:{short} && git merge --ff-only {short}"
        return replace(finished, fast_forwarded="", by_hand=by_hand)
    with StateLock(project.state) as lock, suppress(GitFailed):
        _merge_notes(project.repository.git(project.state / "git", (lock.fd,)))
    return replace(finished, fast_forwarded="", by_hand=f"git merge --ff-only {short}")


def _merge_notes(git: Git) -> None:
    """Put the notes that were brought beside those that are here: each is about a commit of its own."""
    if git.try_refs("rev-parse", "--verify", "--quiet", BROUGHT_NOTES)[0] != 0:
        return
    if git.try_refs("rev-parse", "--verify", "--quiet", NOTES)[0] != 0:
        git.refs("update-ref", NOTES, BROUGHT_NOTES)
    else:
        who = {f"GIT_{role}_{what}": said for role in ("AUTHOR", "COMMITTER") for what, said in _US.items()}
        git.refs("notes", f"--ref={NOTES}", "merge", "--quiet", "--strategy=theirs", BROUGHT_NOTES, env=who)
    git.refs("update-ref", "-d", BROUGHT_NOTES)


_US = {"NAME": "Milepost", "EMAIL": "milepost@localhost"}


def _far(project: Project, exchange: Exchange) -> Remote:
    return Remote(exchange.remote, project.repository.top, patience_s=PATIENCE_S)


class _Anybody(dict[str, Agent]):
    """Agents that workers have: whether they do is not known here."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, name: str) -> Agent:
        return _OnAWorker(name)


class _OnAWorker:
    """Stands for an agent that is made where it works."""

    def __init__(self, name: str) -> None:
        self._name = name

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        raise AgentUnknown(f"agent {self._name!r} works on a worker", "start one: milepost worker")
