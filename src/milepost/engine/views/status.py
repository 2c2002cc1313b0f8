"""Looking at what was done: the state of runs, their history, and the proof of a task. Changes nothing."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.attempt import Attempt
from milepost.core.errors import EvidenceForged, MilepostError, TaskUnknown
from milepost.core.events import Event, RunFinished, RunStarted, StageStarted, TaskFinished
from milepost.core.task import Plan
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.budget.costs import costs_of
from milepost.engine.memory.open_memory import waiting_rows
from milepost.engine.planning.make_plan import ended_in, planned, ways_of
from milepost.engine.planning.renamed_tasks import Renamed, called_before, renamed_here
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.settings.load import load as load_settings
from milepost.engine.project.state_lock import Holder, holder_of
from milepost.engine.records.check_logs import Logs, logs_of
from milepost.engine.records.journal import Entry, Journal, RunRecord
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.records.unmerged_run import run_ahead
from milepost.engine.views.progress import Progress, progress_of
from milepost.repair.diagnosis.failure_log import FailureLog, FailureStats
from milepost.store.database import open_database
from milepost.workspace.mileposts import Milepost, Mileposts, run_branch


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
    def trust(self) -> str:
        """What holds its commands, as it was told at the start."""
        return next((entry.event.trust for entry in self.entries if isinstance(entry.event, RunStarted)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of a task: its milepost where it has one, the evidence, and the attempts before."""

    task: str
    title: str
    run: str
    attempt: int
    agent: str
    verdict: Verdict
    commit: str | None
    evidence: Evidence
    attempts: tuple[Attempt, ...]


def status(roadmap: Path | None, server: str | None = None) -> Status | None:
    """The newest run, or None where nothing was ever run; of those submitted to a server, where one is used."""
    project = Project.find(roadmap)
    settings = load_settings(project.roadmap.parent, {"database": server})
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
            unsynced=waiting_rows(project, settings),
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


def _submitted(roadmap: Path | None, server: str) -> tuple[RunRecord | None, bool]:
    """The run that was submitted to a server last, and whether a worker is at it."""
    from milepost.engine.records.locate import exchange_named, submitted

    return submitted(roadmap, exchange_named(roadmap, server, None)) or (None, False)


def log(roadmap: Path | None) -> tuple[Milepost, ...]:
    """The mileposts of a roadmap's repository, newest first, also those that are not merged yet."""
    project = Project.find(roadmap)
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        return all_mileposts(project, mileposts)


def renamed(roadmap: Path | None) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that were worked on under another name."""
    project = Project.find(roadmap)
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        return renamed_here(project, mileposts, all_mileposts(project, mileposts))


def proof(roadmap: Path | None, task: str) -> Proof:
    """The proof of a task: from the note on its milepost, or of its last attempt where it has none."""
    project = Project.find(roadmap)
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        task, post = milepost_of(project, mileposts, task)
        with Journal.look(project.database) as journal:
            ours = (one.run for one in journal.runs() if one.order["roadmap"] == project.roadmap_in_tree)
            tried_in = next((run for run in ours if journal.attempts(run, task)), None)
        if post is None and tried_in is None:
            raise TaskUnknown(
                f"there is neither a milepost nor an attempt for task {task!r}", "milepost log lists the mileposts"
            )
        if post is None:
            return _proof_of_attempts(project, tried_in or "", task)
        return _proof_of(project, mileposts, post)


def logs(roadmap: Path | None, task: str) -> tuple[tuple[str, str], ...]:
    """The name and the whole log of each check behind a task's proof, as far as they are kept on this machine."""
    found = proof(roadmap, task)
    return logs_of(found.evidence.checks, Logs(Project.find(roadmap).state / "logs"))


def failures(roadmap: Path | None) -> tuple[FailureStats, ...]:
    """What failed in the runs of a roadmap, most often first."""
    path = Project.find(roadmap).database
    if not path.exists():
        return ()
    with closing(open_database(path)) as database:
        return FailureLog(database).stats()


def _proof_of(project: Project, mileposts: Mileposts, post: Milepost) -> Proof:
    note = recorded_note(mileposts, post)
    if note.problem:
        raise EvidenceForged(
            f"{post.task} on {post.commit[:7]}: {note.problem}",
            f"check it again: milepost verify {post.task} --replay",
        )
    with Journal.look(project.database) as journal:
        attempts = journal.attempts(post.run, post.task)
    return Proof(
        task=post.task,
        title=post.title,
        run=post.run,
        attempt=post.attempt,
        agent=post.agent,
        verdict=note.evidence.verdict,
        commit=post.commit,
        evidence=note.evidence,
        attempts=attempts,
    )


def _proof_of_attempts(project: Project, run: str, task: str) -> Proof:
    with Journal.look(project.database) as journal:
        attempts = journal.attempts(run, task)
        events = journal.events(run)
    last = attempts[-1]
    stages = (entry.event for entry in events if isinstance(entry.event, StageStarted))
    titles = [stage.title for stage in stages if stage.task == task]
    return Proof(
        task=task,
        title=titles[0] if titles else "",
        run=run,
        attempt=last.number,
        agent=last.agent,
        verdict=last.evidence.verdict,
        commit=None,
        evidence=last.evidence,
        attempts=attempts,
    )


def _as_it_stands(project: Project, record: RunRecord, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The events of a run, in which a task whose milepost was taken back since has none."""
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


def _without_milepost(event: Event, undone: frozenset[str]) -> Event:
    if isinstance(event, TaskFinished) and event.commit in undone:
        return replace(event, verdict=None, commit=None, reason="undone: open again", proposal="")
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


def all_mileposts(project: Project, mileposts: Mileposts) -> tuple[Milepost, ...]:
    """Those in the user's history, those of the newest run whose branch is ahead of it, and those of the last run."""
    user = project.repository.position()
    with Journal.look(project.database) as journal:
        records = journal.runs()
    ahead = run_ahead(records, mileposts, user)
    if ahead is not None:
        return of_this_roadmap(project, mileposts.history(ahead.tip))
    branches = (mileposts.resolve(run_branch(record.run)) for record in records[:1])
    found = mileposts.history(user.commit, *(tip for tip in branches if tip is not None))
    return of_this_roadmap(project, found)


def milepost_of(project: Project, mileposts: Mileposts, task: str) -> tuple[str, Milepost | None]:
    """The newest milepost that ended a task, if any, and the name that the task was worked on by."""
    posts = all_mileposts(project, mileposts)
    if (post := next((post for post in posts if post.ends(task)), None)) is not None:
        return post.task, post
    before = called_before(project, mileposts, posts, task)
    return before, next((post for post in posts if post.ends(before)), None)


def of_this_roadmap(project: Project, posts: tuple[Milepost, ...]) -> tuple[Milepost, ...]:
    """Ids are a roadmap's own: another roadmap in the repository may use the same."""
    return tuple(post for post in posts if post.roadmap in ("", project.roadmap_in_tree))
