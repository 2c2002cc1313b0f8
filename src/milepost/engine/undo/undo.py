"""Taking mileposts back: a commit for each that removes its work and opens its box; all of them or none.

The commits are made first, beside the branch. Then the branch moves, once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import MachineFailed, Misuse, PlaceUnknown, TaskUnknown, UndoImpossible
from milepost.core.events import OPEN_AGAIN, TaskFinished
from milepost.engine.memory.unlearn import unlearn
from milepost.engine.planning.make_plan import manner_here
from milepost.engine.planning.renamed_tasks import called_before, roadmaps_of
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.engine.records.unmerged_run import run_ahead
from milepost.engine.undo.dependents import Family, Going, going_with
from milepost.engine.undo.revert_commits import TakenBack, UndoState, undo_commits
from milepost.engine.views.log import all_mileposts, of_this_roadmap
from milepost.engine.views.revisions import find_place
from milepost.roadmap import read
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Milepost, Mileposts, Stamp, run_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was taken back on a branch, newest first, or what would be where `dry_run` says so."""

    branch: str
    taken_back: tuple[TakenBack, ...]
    dry_run: bool = False


def undo(
    roadmap: Path | None,
    tasks: Sequence[str] = (),
    *,
    to: str = "",
    with_dependents: bool = False,
    dry_run: bool = False,
) -> Undone:
    """Take back the mileposts of tasks, or all that landed after a place; refuses where others depend on them."""
    if bool(tasks) == bool(to):
        raise Misuse(
            "name what to undo: tasks, or --to a task or mark to go back to", "milepost log lists the mileposts"
        )
    project = Project.find(roadmap)
    with _opened(project, dry_run) as (git, lock_fds):
        ground = _ground(project, Mileposts(git))
        asked = _after(ground, to) if to else tuple(Going(milepost=_named(ground, task)) for task in tasks)
        _refuse_unfinished(ground)
        asked = tuple({one.milepost.commit: one for one in asked}.values())
        going = asked if to else going_with(ground.posts, ground.tasks, asked)
        made = undo_commits(ground, going, with_dependents)
        if made:
            _move(ground, made[-1].commit, dry_run, lock_fds)
            if not dry_run:
                _record(ground, made[-1].commit)
                _unlearn(ground, made[-1].commit)
        return Undone(branch=ground.branch, taken_back=made, dry_run=dry_run)


def _record(ground: UndoState, commit: str) -> None:
    """Write it down as the last event of each task, so that whoever reads the run sees it open again."""
    if not ground.project.database.exists():
        return
    posts = [post for post, _ in ground.mileposts.taken_back(commit)]
    with Journal(ground.project.database) as journal:
        for post in posts:
            told = [one.event for one in journal.events(post.run) if isinstance(one.event, TaskFinished)]
            for event in [one for one in told if one.commit == post.commit]:
                gone = replace(event, verdict=None, commit=None, reason=OPEN_AGAIN, proposal="")
                journal.append(gone, f"{event.task}/undone/{post.commit}")


def _unlearn(ground: UndoState, commit: str) -> None:
    """Take what was learnt from undone work out of use; where that fails, the work is undone all the same."""
    try:
        unlearn(ground.project, [post for post, _ in ground.mileposts.taken_back(commit)])
    except Exception as error:
        raise MachineFailed(
            f"the work is undone, but its lessons are still shown to attempts: {error}",
            "milepost memory list shows the lessons, milepost memory quarantine stops one from being shown",
        ) from error


@contextmanager
def _opened(project: Project, dry_run: bool) -> Iterator[tuple[Git, tuple[int, ...]]]:
    """The engine's git: alone on the state directory, or on a copy whose objects are thrown away again."""
    if not dry_run:
        with project.lock() as lock:
            yield project.repository.git(project.state / "git", (lock.fd,)), (lock.fd,)
        return
    with TemporaryDirectory() as own:
        project.repository.git(Path(own) / "git")
        objects = Path(own) / "objects"
        (objects / "info").mkdir(parents=True)
        folders = "".join(f"{folder}\n" for folder in project.repository.object_folders())
        (objects / "info/alternates").write_text(folders, errors="surrogateescape")
        yield Git(git_dir=project.repository.common_dir, objects=objects, own_dir=Path(own) / "git"), ()


def _ground(project: Project, mileposts: Mileposts) -> UndoState:
    user = project.repository.position()
    with Journal.look(project.database) as journal:
        ahead = run_ahead(journal.runs(), mileposts, user)
    head = user.commit if ahead is None else ahead.tip
    content, manner = mileposts.roadmap_at(head, project.roadmap_in_tree), manner_here(project)
    return UndoState(
        project=project,
        mileposts=mileposts,
        user=user,
        ahead=ahead,
        posts=of_this_roadmap(project, mileposts.history(head)),
        tasks=read(content, manner).tasks if content is not None else (),
        manner=manner,
        roadmaps=roadmaps_of(project, mileposts, manner),
        stamp=Stamp(identity=project.repository.identity(), at=int(time.time())),
    )


def _named(ground: UndoState, task: str) -> Milepost:
    """The newest milepost of a task in the branch."""
    found = next((post for post in ground.posts if post.task.lower() == task.lower()), None)
    if found is not None:
        return found
    before = called_before(ground.project, ground.mileposts, ground.posts, task)
    if (found := next((post for post in ground.posts if post.task.lower() == before.lower()), None)) is not None:
        return found
    elsewhere = all_mileposts(ground.project, ground.mileposts)
    other = next((post for post in elsewhere if post.task.lower() == task.lower()), None)
    if other is None:
        inside = Family.of(ground.tasks, ()).above(task)
        whole = next((post.task for post in ground.posts if post.task in inside or post.ends(task)), None)
        if whole is not None:
            raise TaskUnknown(f"{task} was done together with {whole}, in one milepost", f"milepost undo {whole}")
        raise TaskUnknown(f"there is no milepost of task {task!r} to undo", "milepost log lists the mileposts")
    raise UndoImpossible(
        f"{other.task} is on milepost/{other.run}, and your branch has diverged from it",
        f"git merge milepost/{other.run}, then undo again",
    )


def _after(ground: UndoState, to: str) -> tuple[Going, ...]:
    """All mileposts that landed after a place, which stays."""
    stays = next((post.commit for post in ground.posts if post.ends(to)), None)
    if stays is None:
        place = find_place(ground.project, ground.mileposts, to)
        if place.kind == "attempt":
            raise PlaceUnknown(f"{to} is an attempt, which is not on any branch", "name a task, a mark or a commit")
        stays = place.commit
        if not ground.mileposts.is_ancestor(stays, ground.head):
            raise UndoImpossible(
                f"{to} ({stays[:7]}) is not in the history of {ground.branch}", "milepost log lists what is"
            )
    kept = {post.commit for post in ground.mileposts.history(stays)} | {stays}
    return tuple(Going(milepost=post, because=f"landed after {to}") for post in ground.posts if post.commit not in kept)


def _refuse_unfinished(ground: UndoState) -> None:
    ahead = ground.ahead
    if ahead is None:
        return
    if ahead.unfinished:
        raise UndoImpossible(
            f"run {ahead.run} is not finished, and only the run itself may change its branch",
            "milepost resume finishes it; milepost run --new abandons it",
        )
    if ground.project.repository.stands_on(run_branch(ahead.run)):
        raise UndoImpossible(f"{ahead.branch} is checked out in another worktree", "undo it there")


def _move(ground: UndoState, commit: str, dry_run: bool, held_fds: tuple[int, ...]) -> None:
    """Move the branch to the last of the commits: one of ours, or the user's own with their tree."""
    repository = ground.project.repository
    if ground.ahead is not None:
        if not dry_run:
            ground.mileposts.move(run_branch(ground.ahead.run), commit, ground.ahead.tip)
        return
    if not dry_run and repository.uses_filters(commit):
        raise UndoImpossible(
            "this repository uses git filters such as LFS, which only your own git may run",
            f"git merge --ff-only {commit[:12]}   undoes it; nothing was changed yet",
        )
    if not repository.is_clean():
        raise UndoImpossible(
            "your working tree has uncommitted changes",
            "nothing was changed: commit or stash them, then undo again",
        )
    if not dry_run:
        repository.fast_forward(commit, held_fds)
