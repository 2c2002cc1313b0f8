"""Taking mileposts back: a commit for each that removes its work and opens its box; all of them or none.

The commits are made first, beside the branch. Then the branch moves, once.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import Misuse, PlaceUnknown, TaskUnknown, UndoImpossible
from milepost.core.task import Task
from milepost.engine.dependents import Family, Going, going_with
from milepost.engine.journal import Journal
from milepost.engine.look import all_mileposts, of_this_roadmap
from milepost.engine.places import find_place
from milepost.engine.project import Project
from milepost.engine.state import StateLock
from milepost.engine.unmerged import Ahead, run_ahead
from milepost.roadmap import read
from milepost.roadmap.reopen import reopened
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Milepost, Mileposts, Stamp, run_branch
from milepost.workspace.repository import Position

_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """A milepost that was taken back: the commit that did it, the files it changed, the boxes that are open again."""

    milepost: Milepost
    commit: str
    files: tuple[str, ...]
    boxes: tuple[str, ...]
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was taken back on a branch, newest first, or what would be where `dry_run` says so."""

    branch: str
    taken_back: tuple[TakenBack, ...]
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """Where mileposts are taken back: the tip, those below it, and the roadmap as the tip has it."""

    project: Project
    mileposts: Mileposts
    user: Position
    ahead: Ahead | None
    posts: tuple[Milepost, ...]
    tasks: tuple[Task, ...]
    stamp: Stamp

    @property
    def head(self) -> str:
        return self.user.commit if self.ahead is None else self.ahead.tip

    @property
    def branch(self) -> str:
        return (self.user.branch or "HEAD") if self.ahead is None else self.ahead.branch


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
        raise Misuse("say what to undo: tasks, or --to a task or mark that stays", "milepost log lists the mileposts")
    project = Project.find(roadmap)
    with _opened(project, dry_run) as (git, lock_fds):
        ground = _ground(project, Mileposts(git))
        asked = _after(ground, to) if to else tuple(Going(milepost=_named(ground, task)) for task in tasks)
        _refuse_unfinished(ground)
        asked = tuple({one.milepost.commit: one for one in asked}.values())
        going = asked if to else going_with(ground.posts, ground.tasks, asked)
        made = _commits(ground, going, with_dependents)
        if made:
            _move(ground, made[-1].commit, dry_run, lock_fds)
        return Undone(branch=ground.branch, taken_back=made, dry_run=dry_run)


@contextmanager
def _opened(project: Project, dry_run: bool) -> Iterator[tuple[Git, tuple[int, ...]]]:
    """The engine's git: alone on the state directory, or on a copy whose objects are thrown away again."""
    if not dry_run:
        with StateLock(project.state) as lock:
            yield project.repository.git(project.state / "git", (lock.fd,)), (lock.fd,)
        return
    with TemporaryDirectory() as own:
        project.repository.git(Path(own) / "git")
        objects = Path(own) / "objects"
        (objects / "info").mkdir(parents=True)
        (objects / "info/alternates").write_text(f"{project.repository.objects}\n")
        yield Git(git_dir=project.repository.common_dir, objects=objects, own_dir=Path(own) / "git"), ()


def _ground(project: Project, mileposts: Mileposts) -> _Ground:
    user = project.repository.position()
    with Journal.look(project.database) as journal:
        ahead = run_ahead(journal.runs(), mileposts, user)
    head = user.commit if ahead is None else ahead.tip
    content = mileposts.file_at(head, project.roadmap_in_tree)
    return _Ground(
        project=project,
        mileposts=mileposts,
        user=user,
        ahead=ahead,
        posts=of_this_roadmap(project, mileposts.history(head)),
        tasks=read(content).tasks if content is not None else (),
        stamp=Stamp(identity=project.repository.identity(), at=int(time.time())),
    )


def _named(ground: _Ground, task: str) -> Milepost:
    """The newest milepost of a task in the branch."""
    found = next((post for post in ground.posts if post.task.lower() == task.lower()), None)
    if found is not None:
        return found
    elsewhere = all_mileposts(ground.project, ground.mileposts)
    other = next((post for post in elsewhere if post.task.lower() == task.lower()), None)
    if other is None:
        inside = Family.of(ground.tasks, ()).above(task)
        whole = next((post.task for post in ground.posts if post.task in inside), None)
        if whole is not None:
            raise TaskUnknown(f"{task} was done with {whole}, in one milepost", f"milepost undo {whole}")
        raise TaskUnknown(f"there is no milepost of task {task!r} to undo", "milepost log lists the mileposts")
    raise UndoImpossible(
        f"{other.task} is on milepost/{other.run}, which your branch went another way from",
        f"git merge milepost/{other.run}, then undo again",
    )


def _after(ground: _Ground, to: str) -> tuple[Going, ...]:
    """All mileposts that landed after a place, which stays."""
    stays = next((post.commit for post in ground.posts if post.task.lower() == to.lower()), None)
    if stays is None:
        place = find_place(ground.project, ground.mileposts, to)
        if place.kind == "attempt":
            raise PlaceUnknown(f"{to} is an attempt, which is in no branch", "name a task, a mark or a commit")
        stays = place.commit
        if not ground.mileposts.is_ancestor(stays, ground.head):
            raise UndoImpossible(
                f"{to} ({stays[:7]}) is not in the history of {ground.branch}", "milepost log lists what is"
            )
    kept = {post.commit for post in ground.mileposts.history(stays)} | {stays}
    return tuple(Going(milepost=post, because=f"landed after {to}") for post in ground.posts if post.commit not in kept)


def _refuse_unfinished(ground: _Ground) -> None:
    ahead = ground.ahead
    if ahead is None:
        return
    if ahead.unfinished:
        raise UndoImpossible(
            f"run {ahead.run} is not finished, and its branch moves only with it",
            "milepost resume ends it; or leave it: milepost run --new",
        )
    if ground.project.repository.stands_on(run_branch(ahead.run)):
        raise UndoImpossible(f"{ahead.branch} is checked out in another tree", "undo it there")


def _commits(ground: _Ground, going: tuple[Going, ...], with_dependents: bool) -> tuple[TakenBack, ...]:
    """The commits that take mileposts back, newest first, and what later work is in the way of that."""
    asked = tuple(one for one in going if not one.because)
    made: list[TakenBack] = []
    while len(made) < len(going):
        if not with_dependents and any(one.dependent for one in going):
            raise _refusal(ground, asked or going, going)
        one = going[len(made)]
        try:
            made.append(_take_back(ground, one, made[-1].commit if made else ground.head, going))
        except UndoImpossible as conflict:
            if not conflict.paths:
                raise
            in_the_way = _in_the_way(ground, one.milepost, conflict.paths, going)
            more = Going(milepost=in_the_way, because=_why(one, conflict.paths), dependent=True)
            going = going_with(ground.posts, ground.tasks, (*going, more))
            same = (old.milepost == new.milepost for old, new in zip(made, going, strict=False))
            made = made[: sum(takewhile(bool, same))]
    return tuple(made)


def _refusal(ground: _Ground, asked: Sequence[Going], going: Sequence[Going]) -> UndoImpossible:
    names = ", ".join(one.milepost.task for one in asked)
    told = {one.milepost.task: one.because for one in reversed(going) if one.dependent}
    told |= {task: f"{told[task]}, and {why}" if task in told else why for task, why in _same_lines(ground, asked)}
    shown = [f"{task} {because}" for task, because in told.items()]
    more = "" if len(shown) <= _SHOWN else f"; and {len(shown) - _SHOWN} more"
    return UndoImpossible(
        f"{names} cannot be taken back alone: {'; '.join(shown[:_SHOWN])}{more}",
        f"milepost undo {names.replace(',', '')} --with-dependents   takes back what depends on it, too; "
        "with --dry-run it only says what",
    )


def _same_lines(ground: _Ground, asked: Sequence[Going]) -> Iterator[tuple[str, str]]:
    """The first milepost that changed the same lines as one that was asked for, and what to say of it."""
    head = ground.head
    for one in asked:
        try:
            head = _take_back(ground, one, head, asked).commit
        except UndoImpossible as conflict:
            other = _in_the_way(ground, one.milepost, conflict.paths, asked)
            yield other.task, _why(one, conflict.paths)
            return


def _why(one: Going, paths: tuple[str, ...]) -> str:
    return f"changed the same lines of {', '.join(paths)} as {one.milepost.task}"


def _in_the_way(ground: _Ground, post: Milepost, paths: tuple[str, ...], going: Sequence[Going]) -> Milepost:
    """The first later milepost that changed the same lines, which must be taken back before this one."""
    mileposts, gone = ground.mileposts, {one.milepost.commit for one in going}
    touched = mileposts.touching(paths, post.commit, ground.head)
    touching = [one for one in reversed(ground.posts) if one.commit in touched and one.commit not in gone]
    beside = mileposts.inverse(post, ground.project.roadmap_in_tree)
    for one in touching:
        clean_before = mileposts.merge(mileposts.parent_of(one.commit), beside) is not None
        if clean_before and mileposts.merge(one.commit, beside) is None:
            return one
    if touching:
        return touching[0]
    raise UndoImpossible(
        f"{post.task} cannot be taken back: commits that are no mileposts of this roadmap "
        f"changed the same lines of {', '.join(paths)}",
        f"see them: git log {post.commit[:7]}.. -- {shlex.quote(paths[0])}   "
        f"or take it back by hand: git revert {post.commit[:7]}",
    )


def _take_back(ground: _Ground, one: Going, head: str, going: Sequence[Going]) -> TakenBack:
    post, path, mileposts = one.milepost, ground.project.roadmap_in_tree, ground.mileposts
    tree = mileposts.without(post, head, path)
    files = tuple(name for name in mileposts.changed_files(head, tree) if name != path)
    content = mileposts.file_at(head, path)
    boxes: tuple[str, ...] = ()
    if content is not None:
        gone = {other.milepost.commit for other in going}
        staying = {other.task for other in ground.posts if other.commit not in gone}
        above = Family.of(ground.tasks, {other.task for other in ground.posts}).above(post.task)
        content, boxes = reopened(content, post.task, above=above, kept=staying)
        tree = mileposts.with_file(tree, path, content) if boxes else tree
    message = (
        f"Undo {post.task}: {post.title}\n\n"
        f"Takes back milepost {post.commit[:12]}.\n\n"
        f"Milepost-Undo: {post.commit}\nMilepost-Run: {post.run}\n"
    )
    commit = mileposts.commit(tree, head, message, ground.stamp)
    return TakenBack(milepost=post, commit=commit, files=files, boxes=boxes, because=one.because)


def _move(ground: _Ground, commit: str, dry_run: bool, held_fds: tuple[int, ...]) -> None:
    """Move the branch to the last of the commits: one of ours, or the user's own with their tree."""
    repository = ground.project.repository
    if ground.ahead is not None:
        if not dry_run:
            ground.mileposts.move(run_branch(ground.ahead.run), commit, ground.ahead.tip)
        return
    if not dry_run and repository.uses_filters(commit):
        raise UndoImpossible(
            "files of this repository pass through filters such as LFS, which only your own git may run",
            f"git merge --ff-only {commit[:12]}   takes it back: nothing was changed yet",
        )
    if not repository.is_clean():
        raise UndoImpossible(
            "your tree has changes that are not committed",
            "commit or stash them, then undo again: nothing was changed",
        )
    if not dry_run:
        repository.fast_forward(commit, held_fds)
