"""Coming home: what workers made of a run is brought into the user's repository, and its rows into the state."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace

from milepost.core.errors import GitFailed
from milepost.core.events import RunFinished
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.engine.records.spending import Spending
from milepost.store.database import Database, open_database
from milepost.workspace.git import Git
from milepost.workspace.mileposts import NOTES, run_branch
from milepost.workspace.remote import Remote

BROUGHT_NOTES = "refs/notes/milepost-brought"
_ROWS = (  # what tells of a run that is over, in the order it is read again
    ("runs", "run, version, order_json, started_at, finished_at, summary_json, left_at", "run"),
    ("events", "run, key, at, body", "seq"),
    ("attempts", "run, task, number, at, body", "number"),
    (
        "spending",
        "run, task, attempt, number, agent, model, reserved_usd, reserved_tokens, usd, input_tokens, output_tokens, "
        "cached_tokens, seconds, state, at",
        "at",
    ),
    ("lives", "run, life, began_at, seen_at", "began_at"),
)
_US = {"NAME": "Milepost", "EMAIL": "milepost@localhost"}


def brought(project: Project, far: Remote, name: str, shared: Database, finished: RunFinished) -> RunFinished:
    """The end of a run, with its branch, the notes of its mileposts and its rows on the user's machine.

    `name` is what the user calls the remote.
    """
    branch, short = run_branch(finished.run), f"milepost/{finished.run}"
    mine = f"refs/milepost/{finished.run}/*"
    try:
        if far.look(branch) is None:
            return replace(finished, fast_forwarded="", by_hand="")
        far.fetch(f"+{branch}:{branch}", f"+{mine}:{mine}", f"+{NOTES}*:{BROUGHT_NOTES}*")
    except GitFailed:
        by_hand = f"git fetch {name} {short}:{short} && git merge --ff-only {short}"
        return replace(finished, fast_forwarded="", by_hand=by_hand)
    with project.lock() as lock:
        with suppress(GitFailed):
            _merge_notes(project.repository.git(project.state / "git", (lock.fd,)))
        with closing(open_database(project.database)) as own:
            copy_rows(shared, own, finished.run)
    return replace(finished, fast_forwarded="", by_hand=f"git merge --ff-only {short}")


def copy_rows(shared: Database, own: Database, run: str) -> None:
    """Write the rows of a run that is over into another database, all or none; those of one it knows stay."""
    for database in (shared, own):
        Journal(database)
        Spending(database)
    rows = [(table, names, shared.read(_select(table, names, order), run)) for table, names, order in _ROWS]

    def copy() -> None:
        if own.read("select 1 from runs where run = ?", run):
            return
        for table, names, found in rows:
            places = ", ".join("?" for _ in names.split(","))
            for row in found:
                own.write(f"insert into {table} ({names}) values ({places})", *row)  # noqa: S608

    own.together(f"bring {run}", copy)


def _select(table: str, names: str, order: str) -> str:
    return f"select {names} from {table} where run = ? order by {order}"  # noqa: S608


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
