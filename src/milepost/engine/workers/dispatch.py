"""Where a run is done: on this machine, or at the workers that share a database. The same calls for both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.errors import NothingToSteer
from milepost.core.secrets.redact import Redactor
from milepost.engine.gates import unfinished_run
from milepost.engine.gates.answer import running
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.load import EVERYTHING, SERVER, load
from milepost.engine.project.work_server import WorkServer, exchange_of
from milepost.engine.records.locate import submitted
from milepost.engine.records.run_request import Caller, RunRequest
from milepost.engine.records.steering import Request
from milepost.engine.run import start
from milepost.engine.run.prepare import require_agent
from milepost.engine.run.start import EndedHere, flags_of
from milepost.engine.views.run_plan import task_in
from milepost.engine.workers.submit import Elsewhere
from milepost.engine.workers.submit import resume as follow_again
from milepost.engine.workers.submit import run as submit
from milepost.engine.workers.submit import stop as take_back

Ending = EndedHere | Elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """Which roadmap, and the database and the remote that are named by hand; None leaves them to the settings.

    `run` is the one that is meant: what is asked goes to no other.
    """

    roadmap: Path | None = None
    database: str | None = field(default=None, repr=False)
    remote: str | None = field(default=None, repr=False)
    run: str | None = None

    @property
    def exchange(self) -> WorkServer | None:
        """Where the workers are; None for a run on this machine."""
        folder = Project.find(self.roadmap).roadmap.parent
        return exchange_of(load(folder, {"database": self.database, "remote": self.remote}, uses=SERVER))


def run(wish: RunRequest, caller: Caller) -> Ending:
    """Start a run, or go on with the one that was interrupted."""
    exchange = exchange_of(load(Project.find(wish.roadmap).roadmap.parent, flags_of(wish), uses=EVERYTHING))
    return start.run(wish, caller) if exchange is None else submit(wish, exchange, caller.on_event)


def resume(where: RunTarget, caller: Caller, budget_usd: float | None = None) -> Ending:
    """Go on with the run that was interrupted, or follow again the one that was submitted."""
    exchange = where.exchange
    if exchange is None:
        return start.resume(where.roadmap, caller, budget_usd, where.run)
    known = submitted(where.roadmap, exchange)
    if known is not None:
        _require_meant(where, known[0].run)
    if known is not None and unfinished_run.paused(exchange.database, known[0].run):
        unfinished_run.ask(exchange.database, known[0].run, Request(kind="go_on"))
    return follow_again(where.roadmap, exchange, caller.on_event)


def stop(where: RunTarget, *, at_once: bool = False) -> str | None:
    """Stop the run that is going on; gives its id, None without one."""
    exchange = where.exchange
    if where.run is not None and (found := _going_on(where, exchange)) is not None:
        _require_meant(where, found)
    return start.stop(where.roadmap, at_once=at_once) if exchange is None else take_back(where.roadmap, exchange)


def steer(where: RunTarget, request: Request) -> str:
    """Ask something of the run that is going on, or was interrupted; gives its id."""
    exchange, project = where.exchange, Project.find(where.roadmap)
    if exchange is None:
        record, place = unfinished_run.unfinished(project), project.store
    else:
        known = submitted(where.roadmap, exchange)
        record, place = (known[0] if known is not None else None), exchange.database
    if record is None or not record.unfinished:
        raise NothingToSteer("no run in progress here", "milepost run starts one")
    _require_meant(where, record.run)
    if request.task:
        request = replace(request, task=task_in(where.roadmap, record, request.task, where.database))
    if request.kind == "agent" and exchange is None:
        require_agent(request.value, load(project.roadmap.parent, uses=EVERYTHING), project, {})
    if request.kind == "note":
        request = replace(request, value=_discreet(project)(request.value))
    unfinished_run.ask(place, record.run, request)
    return record.run


def _going_on(where: RunTarget, exchange: WorkServer | None) -> str | None:
    """The run that a stop would reach."""
    if exchange is None:
        return running(where.roadmap)
    known = submitted(where.roadmap, exchange)
    return known[0].run if known is not None and known[0].unfinished else None


def _require_meant(where: RunTarget, run: str) -> None:
    """Raise where a run would be reached that was not meant."""
    if where.run is not None and where.run.lower() != run:
        raise NothingToSteer(
            f"run {where.run} cannot be changed from here: the current run is {run}", f"look at run {run}"
        )


def _discreet(project: Project) -> Redactor:
    """Takes the secrets out that the project knows of."""
    return Redactor(known_secrets(load(project.roadmap.parent)))
