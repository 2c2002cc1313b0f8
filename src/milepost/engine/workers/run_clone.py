"""A worker's place at one run: a clone of its own, the rooms as the run's order says, the remote that is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.events import WorkerChanged
from milepost.core.ports import Agent
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.project.state_lock import StateLock
from milepost.engine.records import worker_lease
from milepost.engine.records.run_request import Caller, OnEvent
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.records.work_queue import Offers
from milepost.engine.records.worker_lease import Worker
from milepost.engine.run.durable import RunContext, Sharing
from milepost.engine.run.start import within
from milepost.engine.run.wiring import open_rooms
from milepost.engine.services import RunServices
from milepost.engine.workers.own_limits import refuse_excess
from milepost.workspace.checkout import kept_folder, remove_folder
from milepost.workspace.checkout_places import checkouts_folder, earlier_folders
from milepost.workspace.git import Git
from milepost.workspace.remote import Remote, SharedMileposts, make_clone
from milepost.workspace.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFolder:
    """Where a worker works: its folder, the database and the remote that it shares with others, its own settings.

    `settings` is the folder of the worker's own milepost.toml, from which its agents' secrets come.
    """

    home: Path
    database: str = field(repr=False)
    remote: str = field(repr=False)
    settings: Path
    agents: Mapping[str, Agent]


@contextmanager
def open_workplace(
    site: WorkerFolder, worker: Worker, offers: Offers, order: RunSpec, on_event: OnEvent
) -> Iterator[RunContext]:
    """Everything that a run's workflows need on this machine; gone when it is left, but for the clone."""
    own = load(site.settings, uses=EVERYTHING)
    refuse_excess(order, own)
    folder = folder_of(site, order.run)
    tree, state = folder / "tree", folder / "state"
    folder.mkdir(parents=True, exist_ok=True)
    with StateLock(state, order.run) as lock:
        far = Remote(site.remote, tree, held_fds=(lock.fd,))
        make_clone(tree, order.base, order.run, far)
        repository = Repository.find(tree)
        project = Project(
            repository=repository,
            roadmap=tree / order.roadmap,
            state=state,
            checkouts_key=state,
            server=site.database,
        )
        settings = within(order, load(site.settings, {"trust": order.trust or None}, uses=EVERYTHING))
        caller = Caller(on_event=on_event, agents=site.agents, stays=True, outside_agents=own.named_agents)
        with open_rooms(project, settings, order, lock.fd, caller) as rooms:
            rooms.books.steering.begin()
            shared = _shared(rooms, project, site, order, lock.fd)
            services = replace(rooms, mileposts=shared)
            services.parking.patient = True
            joined = WorkerChanged(run=order.run, worker=worker.name, what="joined")
            services.emit(joined, f"worker/{worker.id}/joined")
            yield RunContext(services=services, sharing=Sharing(offers=offers, mileposts=shared))


def folder_of(site: WorkerFolder, run: str) -> Path:
    return site.home / run


def clear(site: WorkerFolder, run: str) -> None:
    """Remove what a worker kept of a run that is over."""
    state, named = folder_of(site, run) / "state", load(site.settings).workspace.checkouts
    for checkouts in (checkouts_folder(state, named), *earlier_folders(state, named)):
        remove_folder(checkouts)
        remove_folder(kept_folder(checkouts))
    remove_folder(folder_of(site, run))


def _shared(
    services: RunServices, project: Project, site: WorkerFolder, order: RunSpec, lock_fd: int
) -> SharedMileposts:
    repository = project.repository
    git = Git(
        git_dir=repository.common_dir,
        objects=repository.objects,
        own_dir=project.state / "git",
        held_fds=(lock_fd,),
    )
    remote = Remote(
        site.remote,
        repository.top,
        fence=worker_lease.require,
        stopping=lambda: services.parking.stopping,
        held_fds=(lock_fd,),
    )
    return SharedMileposts(git, remote, order.run, order.base)
