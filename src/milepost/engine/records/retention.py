"""What finished runs left behind, and its removal once it is old: recorded steps and calls, attempts, logs, output.

Never a milepost, a note, a mark or anything of a run that can go on. What happened and what it cost stays, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.core.errors import MilepostError, StateUnwritable
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import SERVER, load
from milepost.engine.records.call_log import CallLog
from milepost.engine.records.gates import Gates
from milepost.engine.records.journal import PRINTED_ROWS, Journal, RunRecord
from milepost.repair.patches.patch_log import PatchLedger
from milepost.store.database import Database, open_database
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts, run_branch

if TYPE_CHECKING:
    from dbos import DBOSClient

DAY_S = 86_400.0
BATCH = 500  # workflows that are deleted at once
CLEANED = "cleaned"  # a file in the state directory: when it was last seen to

REFS = ("refs/milepost", "refs/milepost-calls", "refs/milepost-train")
ROWS = (  # table, which of its rows, and what that asks of a run
    ("answers", "question like ?", "{run}: %"),
    ("calls", "run = ?", "{run}"),
    ("attempt_notes", "run = ?", "{run}"),
    ("events", f"run = ? and {PRINTED_ROWS}", "{run}"),
    ("patch_files", "patch in (select id from patches where run = ?)", "{run}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What is left of runs that ended more than `keep_days` ago, and how much room its removal gave back.

    `unmerged` are runs whose attempts stay because their mileposts are not in the user's branch yet.
    """

    keep_days: float
    removed: bool = False
    runs: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()
    refs: tuple[tuple[str, str], ...] = ()
    rows: int = 0
    logs: tuple[Path, ...] = ()
    unmerged: tuple[str, ...] = ()
    freed_bytes: int = 0


def clean(
    roadmap: Path | None, *, keep_days: float | None = None, database: str | None = None, dry_run: bool = False
) -> Remains:
    """Remove what old runs left, here or on the server that workers share; with `dry_run` only tell what that is."""
    found = Project.find(roadmap)
    settings = load(found.roadmap.parent, {"database": database}, uses=SERVER)
    project = replace(found, server=settings.run.database)
    days = settings.state.keep_days if keep_days is None else keep_days
    if not project.server and not project.database.exists():
        return Remains(keep_days=days)
    with project.lock() as lock:
        return _clean(project, lock.fd, days, dry_run=dry_run)


def clean_daily(project: Project, lock_fd: int, keep_days: float) -> None:
    """Remove what old runs left, at most once a day. A run that has ended does not fail of it."""
    seen_to = project.state / CLEANED
    with suppress(MilepostError, OSError):
        if seen_to.exists() and abs(time.time() - seen_to.stat().st_mtime) < DAY_S:
            return
        seen_to.touch()
        _clean(project, lock_fd, keep_days, dry_run=False)


def ended_before(records: tuple[RunRecord, ...], moment: float) -> tuple[RunRecord, ...]:
    """The runs that ended, or were left, before a moment."""
    ends = ((record, record.finished_at or record.left_at) for record in records if not record.unfinished)
    return tuple(record for record, end in ends if end is not None and end < moment)


def _clean(project: Project, lock_fd: int, keep_days: float, *, dry_run: bool) -> Remains:
    with closing(open_database(project.store)) as database:
        git = project.repository.git(project.state / "git", (lock_fd,))
        found = _find(project, database, git, keep_days)
        if dry_run or not (found.workflows or found.refs or found.rows or found.logs):
            return found
        before = _size(project)
        _remove(project, database, git, found)
        return replace(found, removed=True, freed_bytes=max(0, before - _size(project)))


def _find(project: Project, database: Database, git: Git, keep_days: float) -> Remains:
    PatchLedger(database), CallLog(database)  # make their tables, which another version may not have made
    mileposts = Mileposts(git)
    journal, moment = Journal(database), time.time() - keep_days * DAY_S
    records = journal.runs()
    waits = _waiting_for_people(database, journal)
    old = tuple(record for record in ended_before(records, moment) if record.run not in waits)
    names = frozenset(record.run for record in old)
    stay = [record.run for record in records if record.run not in names]
    # What an attempt that is not over has logged is named by nothing in the journal yet.
    under_way = min((record.started_at for record in records if record.unfinished), default=moment)
    unmerged = frozenset(record.run for record in old if not _merged(project, mileposts, record))
    refs = [ref for ref in _refs(git) if _run_of(ref[0]) in names]
    workflows = _workflows(project, names)
    rows = {run: _count(database, run) for run in names}
    going = {run for run, count in rows.items() if count} | {name.partition("/")[0] for name in workflows}
    going |= {_run_of(name) for name, _ in refs} - unmerged
    return Remains(
        keep_days=keep_days,
        runs=tuple(record.run for record in old if record.run in going),
        workflows=workflows,
        refs=tuple(ref for ref in refs if _run_of(ref[0]) not in unmerged),
        rows=sum(rows.values()),
        logs=_old_logs(project.state / "logs", min(moment, under_way), journal.log_ids(stay)),
        unmerged=tuple(sorted({_run_of(name) for name, _ in refs} & unmerged)),
    )


def _waiting_for_people(database: Database, journal: Journal) -> frozenset[str]:
    """The runs whose held work may still be answered for: nothing newer was done at those tasks."""
    asked = (gate for gate in Gates(database).held() if gate.answer is None)
    return frozenset(gate.run for gate in asked if journal.last_run_of(gate.task) == gate.run)


def _remove(project: Project, database: Database, git: Git, found: Remains) -> None:
    """Take everything away; what is cut short is found again and goes on."""
    if found.refs:
        orders = "".join(f"delete {name} {commit}\n" for name, commit in found.refs)
        git.refs("update-ref", "--stdin", stdin=orders.encode())
    with _client(project) as client:
        for begin in range(0, len(found.workflows), BATCH):
            if client is not None:
                client.delete_workflows(list(found.workflows[begin : begin + BATCH]))
    for run in found.runs:
        for table, which, asked in ROWS:
            database.write(f"delete from {table} where {which}", asked.format(run=run))  # noqa: S608
    for path in found.logs:
        path.unlink(missing_ok=True)
    with suppress(MilepostError):  # it needs room to give room back
        database.vacuum()


def _merged(project: Project, mileposts: Mileposts, record: RunRecord) -> bool:
    """Whether the user has taken a run's mileposts in, or thrown its branch away."""
    tip = mileposts.resolve(run_branch(record.run))
    if tip is None:
        return True
    started_on = record.order.get("user", {}).get("branch", "")
    theirs = (project.repository.position().commit, mileposts.resolve(f"refs/heads/{started_on}"))
    return any(commit is not None and mileposts.is_ancestor(tip, commit) for commit in theirs)


def _refs(git: Git) -> tuple[tuple[str, str], ...]:
    """The refs of all runs, each with what it stands for."""
    listed = git.refs("for-each-ref", "--format=%(refname) %(objectname)", *REFS).splitlines()
    return tuple((name, commit) for name, _, commit in (line.partition(" ") for line in listed))


def _run_of(ref: str) -> str:
    return ref.split("/")[2]


def _count(database: Database, run: str) -> int:
    total = 0
    for table, which, asked in ROWS:
        ((count,),) = database.read(f"select count(*) from {table} where {which}", asked.format(run=run))  # noqa: S608
        total += count
    return total


def _old_logs(folder: Path, moment: float, needed: frozenset[str]) -> tuple[Path, ...]:
    if not folder.is_dir():
        return ()
    return tuple(sorted(p for p in folder.iterdir() if p.stem not in needed and p.stat().st_mtime < moment))


def _workflows(project: Project, runs: frozenset[str]) -> tuple[str, ...]:
    """The recorded workflows of some runs."""
    if not runs:
        return ()
    with _client(project) as client:
        found = client.list_workflows(load_input=False, load_output=False) if client is not None else []
    names = (one.workflow_id for one in found)
    return tuple(name for name in names if name.partition("/")[0] in runs)


@contextmanager
def _client(project: Project) -> Iterator[DBOSClient | None]:
    """DBOS from outside, where nothing runs; None where it has no tables yet."""
    import sqlalchemy
    from dbos import DBOSClient

    from milepost.engine.records import portable_rows
    from milepost.engine.records.dbos_setup import server_engine, sqlite_engine

    portable_rows.forbid_pickle()
    shared = bool(project.server)
    engine = server_engine(project.server) if shared else sqlite_engine(project.database)
    try:
        if not sqlalchemy.inspect(engine).has_table("workflow_status", schema="dbos" if shared else None):
            yield None
            return
        client = DBOSClient(system_database_engine=engine, serializer=portable_rows.JSON)
        try:
            yield client
        finally:
            client.destroy()
    except sqlalchemy.exc.DBAPIError as error:
        raise StateUnwritable(f"the recorded steps cannot be removed: {error.orig}", "try again later") from error
    finally:
        engine.dispose()


def _size(project: Project) -> int:
    """The room that the state takes on this machine."""
    files = [*project.state.glob("milepost.db*"), *(project.state / "logs").glob("*")]
    return sum(path.stat().st_size for path in files if path.exists())
