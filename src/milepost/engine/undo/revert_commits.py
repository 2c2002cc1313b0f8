"""The commits that take mileposts back, made beside the branch, and which later work is in their way."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from milepost.core.errors import UndoImpossible
from milepost.core.task import Task
from milepost.engine.planning.renamed_tasks import Roadmaps
from milepost.engine.project.project import Project
from milepost.engine.records.unmerged_run import Ahead
from milepost.engine.undo.dependents import Family, Going, going_with
from milepost.roadmap.editing.reopen import open_boxes, reopened
from milepost.roadmap.reading.options import Manner
from milepost.workspace.mileposts import Milepost, Mileposts, Stamp
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
class UndoState:
    """Where mileposts are taken back: the tip, those below it, and the roadmap as the tip has it."""

    project: Project
    mileposts: Mileposts
    user: Position
    ahead: Ahead | None
    posts: tuple[Milepost, ...]
    tasks: tuple[Task, ...]
    manner: Manner
    roadmaps: Roadmaps
    stamp: Stamp

    @property
    def head(self) -> str:
        return self.user.commit if self.ahead is None else self.ahead.tip

    @property
    def branch(self) -> str:
        return (self.user.branch or "HEAD") if self.ahead is None else self.ahead.branch


def undo_commits(ground: UndoState, going: tuple[Going, ...], with_dependents: bool) -> tuple[TakenBack, ...]:
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


def _refusal(ground: UndoState, asked: Sequence[Going], going: Sequence[Going]) -> UndoImpossible:
    names = ", ".join(one.milepost.task for one in asked)
    told = {one.milepost.task: one.because for one in reversed(going) if one.dependent}
    for task, why in _same_lines(ground, asked):
        told[task] = f"{told[task]}, and {why}" if told.get(task, why) != why else why
    shown = [f"{task} {because}" for task, because in told.items()]
    more = "" if len(shown) <= _SHOWN else f"; and {len(shown) - _SHOWN} more"
    return UndoImpossible(
        f"{names} cannot be undone alone: {'; '.join(shown[:_SHOWN])}{more}",
        f"milepost undo {names.replace(',', '')} --with-dependents   also undoes what depends on it; "
        "--dry-run shows what that is",
    )


def _same_lines(ground: UndoState, asked: Sequence[Going]) -> Iterator[tuple[str, str]]:
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


def _in_the_way(ground: UndoState, post: Milepost, paths: tuple[str, ...], going: Sequence[Going]) -> Milepost:
    """The first later milepost that changed the same lines, which must be taken back before this one."""
    mileposts, gone = ground.mileposts, {one.milepost.commit for one in going}
    later = [one for one in reversed(ground.posts[: ground.posts.index(post)]) if one.commit not in gone]
    touched = mileposts.touching(paths, post.commit, ground.head)
    touching = [one for one in later if one.commit in touched]
    beside = mileposts.inverse(post, ground.project.roadmap_in_tree)
    quoted = any(sign in path for path in paths for sign in '"\\')  # git was asked for names that are not theirs
    for one in later if quoted else touching:
        clean_before = mileposts.merge(mileposts.parent_of(one.commit), beside) is not None
        if clean_before and mileposts.merge(one.commit, beside) is None:
            return one
    if touching:
        return touching[0]
    raise UndoImpossible(
        f"{post.task} cannot be undone: other commits, not mileposts of this roadmap, "
        f"changed the same lines of {', '.join(paths)}",
        f"see them: git log {post.commit[:7]}.. -- {shlex.quote(paths[0])}   "
        f"or revert it by hand: git revert {post.commit[:7]}",
    )


def _take_back(ground: UndoState, one: Going, head: str, going: Sequence[Going]) -> TakenBack:
    post, path, mileposts = one.milepost, ground.project.roadmap_in_tree, ground.mileposts
    tree = mileposts.without(post, head, path)
    files = tuple(name for name in mileposts.changed_files(head, tree) if name != path)
    content = mileposts.roadmap_at(head, path)
    boxes: tuple[str, ...] = ()
    if content is not None:
        gone = {other.milepost.commit for other in going}
        staying = {task for other in ground.posts if other.commit not in gone for task in other.tasks}
        names = [ground.roadmaps.name_now(post, task, ground.tasks) or task for task in post.tasks]
        family = Family.of(ground.tasks, {other.task for other in ground.posts})
        above = [parent for name in names for parent in family.above(name)]
        began = mileposts.roadmap_at(f"{post.commit}^", path)
        before = open_boxes(began, ground.manner) if began is not None else {}
        content, boxes = reopened(content, names, above=above, kept=staying, before=before, manner=ground.manner)
        tree = mileposts.with_roadmap(tree, path, content) if boxes else tree
    message = (
        f"Undo {post.task}: {post.title}\n\n"
        f"Takes back milepost {post.commit[:12]}.\n\n"
        f"Milepost-Undo: {post.commit}\nMilepost-Run: {post.run}\n"
    )
    commit = mileposts.commit(tree, head, message, ground.stamp)
    return TakenBack(milepost=post, commit=commit, files=files, boxes=boxes, because=one.because)
