"""Taking one milepost back, alone: a commit that removes its work and unticks its box."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import TaskUnknown, UndoImpossible
from milepost.engine.journal import Journal
from milepost.engine.look import all_mileposts
from milepost.engine.project import Project
from milepost.engine.state import StateLock
from milepost.engine.unmerged import Ahead, run_ahead
from milepost.roadmap.tick import untick
from milepost.workspace.mileposts import Milepost, Mileposts, Stamp, run_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A milepost that was taken back, and the commit that did it."""

    milepost: Milepost
    commit: str
    branch: str


def undo(roadmap: Path | None, task: str) -> Undone:
    """Take back the milepost of a task and keep all others; refuses where later work builds on it."""
    project = Project.find(roadmap)
    with StateLock(project.state) as lock:
        mileposts = Mileposts(project.repository.git(project.state / "git", (lock.fd,)))
        posts = all_mileposts(project, mileposts)
        post = next((post for post in posts if post.task.lower() == task.lower()), None)
        if post is None:
            raise TaskUnknown(f"there is no milepost of task {task!r} to undo", "milepost log lists the mileposts")
        user = project.repository.position()
        with Journal.look(project.database) as journal:
            ahead = run_ahead(journal.runs(), mileposts, user)
        if ahead is not None:
            return _undo_ahead(project, mileposts, post, ahead)
        if not mileposts.is_ancestor(post.commit, user.commit):
            raise UndoImpossible(
                f"{post.task} is on milepost/{post.run}, which your branch went another way from",
                f"git merge milepost/{post.run}, then undo again",
            )
        commit = _undo_commit(project, mileposts, post, user.commit)
        if project.repository.uses_filters(commit):
            raise UndoImpossible(
                "files of this repository pass through filters such as LFS, which only your own git may run",
                f"git merge --ff-only {commit[:12]}   takes {post.task} back: nothing was changed yet",
            )
        if not project.repository.is_clean():
            raise UndoImpossible(
                "your tree has changes that are not committed",
                "commit or stash them, then undo again: nothing was changed",
            )
        project.repository.fast_forward(commit, (lock.fd,))
        return Undone(milepost=post, commit=commit, branch=user.branch or "HEAD")


def _undo_ahead(project: Project, mileposts: Mileposts, post: Milepost, ahead: Ahead) -> Undone:
    """Take a milepost back where the newest mileposts are, on a branch that the user has not merged yet."""
    if ahead.unfinished:
        raise UndoImpossible(
            f"run {ahead.run} is not finished, and its branch moves only with it",
            "milepost resume ends it; or leave it: milepost run --new",
        )
    if project.repository.stands_on(run_branch(ahead.run)):
        raise UndoImpossible(f"{ahead.branch} is checked out in another tree", "undo it there")
    commit = _undo_commit(project, mileposts, post, ahead.tip)
    mileposts.move(run_branch(ahead.run), commit, ahead.tip)
    return Undone(milepost=post, commit=commit, branch=ahead.branch)


def _undo_commit(project: Project, mileposts: Mileposts, post: Milepost, head: str) -> str:
    tree = mileposts.without(post, head, project.roadmap_in_tree)
    content = mileposts.file_at(head, project.roadmap_in_tree)
    if content is not None:
        with suppress(TaskUnknown):  # the user took the task off the roadmap: there is no box to untick
            tree = mileposts.with_file(tree, project.roadmap_in_tree, untick(content, post.task))
    message = (
        f"Undo {post.task}: {post.title}\n\n"
        f"Takes back milepost {post.commit[:12]}.\n\n"
        f"Milepost-Undo: {post.commit}\nMilepost-Run: {post.run}\n"
    )
    stamp = Stamp(identity=project.repository.identity(), at=int(time.time()))
    return mileposts.commit(tree, head, message, stamp)
