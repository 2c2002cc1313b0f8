"""Looking at what was done: the state of runs, their history, and the proof of a task. Changes nothing."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import MilepostError
from milepost.core.events import OPEN_AGAIN, Event, GateAnswered, RunFinished, RunStarted, TaskFinished
from milepost.core.task import Plan
from milepost.engine.budget.costs import costs_of
from milepost.engine.planning.make_plan import ended_in, planned, ways_of
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.settings.load import SERVER
from milepost.engine.project.settings.load import load as load_settings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_lock import Holder, holder_of
from milepost.engine.records.journal import Entry, Journal, RunRecord
from milepost.engine.records.steering import as_answered
from milepost.engine.views.progress import Progress, progress_of
from milepost.repair.diagnosis.failure_log import FailureLog, FailureStats
from milepost.store.database import open_database
from milepost.workspace.mileposts import Mileposts, run_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The newest run of a roadmap: who works on it now, if anybody, and all that happened in it.

    `unsynced` rows of the memory are not at its primary yet.
    """

    run: str
    started_at: float
    holder: Holder | None
    entries: tuple[Entry, ...]
    summary: RunFinished | None
    left: bool
    at_workers: bool = False
    progress: Progress | None = None
    unsynced: int = 0

    @property
    def state(self) -> str:
        if self.summary is not None:
            return "finished"
        if self.holder is not None or self.at_workers:
            return "running"
        return "left" if self.left else "interrupted"

    @property
    def goes_on_at(self) -> float | None:
        """When the first service that the run waits for can be asked again, in seconds since 1970; None without one."""
        waits = self.progress.waiting if self.progress and self.state in ("running", "interrupted") else ()
        return min((one.until for one in waits if one.until), default=None)

    @property
    def trust(self) -> str:
        """What holds its commands, as it was told at the start."""
        return next((entry.event.trust for entry in self.entries if isinstance(entry.event, RunStarted)), "")


def status(roadmap: Path | None, server: str | None = None) -> Status | None:
    """The newest run, or None where nothing was ever run; of those submitted to a server, where one is used."""
    project = Project.find(roadmap)
    settings = load_settings(project.roadmap.parent, {"database": server}, uses=SERVER)
    server = settings.run.database
    if not server and not project.database.exists():
        return None
    with closing(open_database(server or project.database)) as database:
        journal = Journal(database)
        record, at_workers = _submitted(roadmap, server) if server else (next(iter(journal.runs()), None), False)
        if record is None:
            return None
        entries = _as_it_stands(project, record, journal.events(record.run))
        found = Status(
            run=record.run,
            started_at=record.started_at,
            holder=holder_of(project.state),
            entries=entries,
            summary=record.summary,
            left=record.left_at is not None,
            at_workers=at_workers,
            unsynced=_unsynced(project, settings) if settings.memory.primary else 0,
        )
        taken = costs_of(database, record, entries)
    since_then = max(0.0, time.time() - entries[-1].at) if entries and found.state == "running" else 0.0
    progress = progress_of(
        entries,
        _roadmap_now(project, record.run),
        worked_s=taken.spent.seconds + since_then,
        spent=taken.spent,
        budget=taken.budget,
        over=record.summary is not None,
    )
    return replace(found, progress=progress)


def _unsynced(project: Project, settings: Settings) -> int:
    from milepost.engine.memory.open_memory import waiting_rows  # few have a primary, and it imports all of the memory

    return waiting_rows(project, settings)


def _submitted(roadmap: Path | None, server: str) -> tuple[RunRecord | None, bool]:
    """The run that was submitted to a server last, and whether a worker is at it."""
    from milepost.engine.records.locate import exchange_named, submitted

    return submitted(roadmap, exchange_named(roadmap, server, None)) or (None, False)


def failures(roadmap: Path | None) -> tuple[FailureStats, ...]:
    """What failed in the runs of a roadmap, most often first."""
    path = Project.find(roadmap).database
    if not path.exists():
        return ()
    with closing(open_database(path)) as database:
        return FailureLog(database).stats()


def _as_it_stands(project: Project, record: RunRecord, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The events of a run, without mileposts that were taken back since and questions that were answered."""
    entries = _as_answered(entries)
    landed = [entry.event for entry in entries if isinstance(entry.event, TaskFinished) and entry.event.commit]
    if not landed:
        return entries
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        tips = (project.repository.position().commit, mileposts.resolve(run_branch(record.run)))
        base = str(record.order.get("base", ""))
        known = base if base and mileposts.resolve(base) else ""
        undone = mileposts.undone(*(tip for tip in tips if tip is not None), since=known)
    return tuple(replace(entry, event=_without_milepost(entry.event, undone)) for entry in entries)


def _as_answered(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    found: list[Entry] = []
    answers: list[Event] = []
    for entry in reversed(entries):
        if isinstance(entry.event, GateAnswered):
            answers.append(entry.event)
        event = entry.event
        found.append(replace(entry, event=as_answered(event, answers)) if isinstance(event, TaskFinished) else entry)
    return tuple(reversed(found))


def _without_milepost(event: Event, undone: frozenset[str]) -> Event:
    if isinstance(event, TaskFinished) and event.commit in undone:
        return replace(event, verdict=None, commit=None, reason=OPEN_AGAIN, proposal="")
    return event


def _roadmap_now(project: Project, run: str) -> Plan:
    """The roadmap as the run's branch has it where the user's has not taken that in, else as the user's file is."""
    try:
        with TemporaryDirectory() as own:
            mileposts = Mileposts(project.repository.git(Path(own)))
            tip = mileposts.resolve(run_branch(run))
            user = project.repository.position().commit
            merged = tip is None or mileposts.is_ancestor(tip, user)
            content = None if merged or tip is None else mileposts.roadmap_at(tip, project.roadmap_in_tree)
            ended = ended_in(mileposts, user if merged or tip is None else tip, project.roadmap_in_tree)
            content = read_bytes(project.roadmap) if content is None else content
            return planned(content, *ways_of(project.roadmap), ended=ended)
    except MilepostError:  # a roadmap that cannot be read now says nothing of the run
        return Plan(tasks=(), waves=())
