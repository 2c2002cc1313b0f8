"""An edit of a task, committed at once on the user's branch: nothing else goes along, and no run is in its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from milepost.core.errors import CommitRefused, EngineBusy, MachineFailed
from milepost.engine.authoring.edit_task import TaskText, edit_task, task_text
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import LAST, server_named
from milepost.engine.records.unmerged_run import run_ahead
from milepost.engine.views.revisions import mileposts_of
from milepost.workspace.commit_file import commit_file, edit_message, refusal

SAVE_ALONE = "save it without a commit: a running run picks up the saved file"


def edit_and_commit(
    roadmap: Path | None, task: str, text: str, digest: str = "", database: str | None = None
) -> TaskText:
    """Write other lines for a task as `edit_task` does, and commit the file; what is refused is not written."""
    project = Project.find(roadmap)
    page = task_text(project.roadmap, task).page
    path = f"{project.roadmap_in_tree}/{page}" if page else project.roadmap_in_tree
    try:
        with project.lock() as lock:
            refuse_held(project, server_named(project, database))
            refuse_mixed(project, path)
            edited = edit_task(project.roadmap, task, text, digest)
            return replace(edited, commit=_committed(project, path, edited.task, (lock.fd,)))
    except EngineBusy as error:
        raise CommitRefused(error.message, SAVE_ALONE) from error


def _committed(project: Project, path: str, task: str, held_fds: tuple[int, ...]) -> str:
    if not project.repository.uncommitted(path):
        return ""  # the words are those that were there
    try:
        return commit_file(project.repository, path, edit_message(task, path), held_fds)
    except MachineFailed as error:
        raise CommitRefused(f"{path} is written, but not committed: {error.message}", f"git commit {path}") from error


def refuse_held(project: Project, server: str) -> None:
    """Raise where a commit would part the user's branch from what a run made, or will make, on top of it."""
    user = project.repository.position()
    records = [record for record in _runs(project, server) if record.order["user"]["branch"] == user.branch]
    if (going := next((record for record in records if record.unfinished), None)) is not None:
        raise CommitRefused(f"run {going.run} is unfinished, and will update your branch when it ends", SAVE_ALONE)
    with mileposts_of(project) as mileposts:
        ahead = run_ahead(tuple(records), mileposts, user)
    if ahead is not None:
        raise CommitRefused(
            f"your branch lacks the commits of run {ahead.run}, and a new commit would make them diverge",
            f"git merge --ff-only {ahead.branch}, then save again",
        )


def _runs(project: Project, server: str) -> Iterator[RunRecord]:
    """The runs that are about this tree: those of this machine, and the one that was submitted last from here."""
    with Journal.look(project.database) as journal:
        yield from journal.runs()
    with suppress(FileNotFoundError):
        last = (project.state / LAST).read_text().strip()
        if server:
            with Journal.look(server) as journal:
                yield from (record for record in journal.runs() if record.run == last)


def refuse_mixed(project: Project, path: str) -> None:
    """Raise where more than the edit would be committed, or not by this git."""
    repository = project.repository
    if problem := repository.uncommitted(path):
        raise CommitRefused(
            f"{path} {problem}, in addition to this edit",
            f"look at them: git diff HEAD -- {path}   then commit them yourself",
        )
    if repository.half_done:
        raise CommitRefused(
            "something is unfinished in your working tree, such as a merge", "finish it, then save again"
        )
    if why := refusal(repository, path):
        raise CommitRefused(why, f"save it without a commit, then: git commit {path}")
