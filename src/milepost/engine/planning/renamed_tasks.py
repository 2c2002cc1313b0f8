"""Tasks that the roadmap calls otherwise than when they were worked on, found again by being alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from milepost.core.errors import MilepostError
from milepost.core.same_task import found_again
from milepost.core.task import Task
from milepost.engine.planning.make_plan import manner_here, read_now
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner
from milepost.workspace.mileposts import Milepost, Mileposts

# How many names that are off the roadmap are looked for, the newest first: each may take reading an older one.
_LOOKED_FOR = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A task by its id now, and what it was called when it was worked on."""

    id: str
    was: str
    title: str


class Roadmaps:
    """The roadmap of a project as it was at commits; each is read once, and one that cannot be read has no tasks.

    `bases` are the commits that runs began with.
    """

    def __init__(self, mileposts: Mileposts, path: str, manner: Manner, bases: Mapping[str, str]) -> None:
        self._mileposts, self._path, self._manner, self._bases = mileposts, path, manner, bases
        self._read: dict[bytes, tuple[Task, ...]] = {}

    def at(self, commit: str) -> tuple[Task, ...]:
        """The tasks, subtasks included, at a commit."""
        content = self._mileposts.roadmap_at(commit, self._path) or b""
        if content not in self._read:
            try:
                tops = read(content, self._manner).tasks
            except MilepostError:
                tops = ()
            self._read[content] = tuple(task for top in tops for task in top.walk())
        return self._read[content]

    def name_now(self, post: Milepost, task: str, now: Sequence[Task]) -> str | None:
        """What a task of a milepost is called among the tasks that there are now.

        Where it was renamed while it was worked on, the roadmap that its run began with tells, or its own title.
        """
        for commit in (f"{post.commit}^", self._bases.get(post.run, "")):
            then = self.at(commit) if commit else ()
            known = next((one for one in then if one.id.lower() == task.lower()), None)
            if known is not None:
                again = found_again(known, now, then)
                return None if again is None else again.id
        same = [one.id for top in now for one in top.walk() if post.title and one.title == post.title]
        return same[0] if len(same) == 1 and task == post.task else None

    def tried_now(self, task: str, base: str, now: Sequence[Task]) -> str | None:
        """What a task that a run began with is called now."""
        then = self.at(base)
        known = next((one for one in then if one.id.lower() == task.lower()), None)
        again = found_again(known, now, then) if known is not None else None
        return None if again is None else again.id

    def title_at(self, task: str, commit: str) -> str:
        """What a task was called at a commit."""
        return next((one.title for one in self.at(commit) if one.id.lower() == task.lower()), "")


def roadmaps_of(project: Project, mileposts: Mileposts, manner: Manner) -> Roadmaps:
    """The roadmap of a project as it was, also at the commits that its runs began with."""
    with Journal.look(project.database) as journal:
        records = [one for one in journal.runs() if one.order["roadmap"] == project.roadmap_in_tree]
    bases = {one.run: one.order["base"] for one in records}
    return Roadmaps(mileposts, project.roadmap_in_tree, manner, bases)


def renamed_here(project: Project, mileposts: Mileposts, posts: Sequence[Milepost]) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that were worked on under another name; the newest of several names counts."""
    now = read_now(project).tasks
    there = {one.id.lower() for top in now for one in top.walk()}
    roadmaps = roadmaps_of(project, mileposts, manner_here(project))
    found: dict[str, Renamed] = {}
    lost = [(post, task) for post in posts for task in post.tasks if task.lower() not in there]
    for post, task in lost[:_LOOKED_FOR]:
        if (name := roadmaps.name_now(post, task, now)) is not None:
            found.setdefault(name, Renamed(id=name, was=task, title=post.title))
    with Journal.look(project.database) as journal:
        records = [one for one in journal.runs() if one.order["roadmap"] == project.roadmap_in_tree]
    tried = [(task, one.order["base"]) for one in records for task in one.order["tasks"] if task.lower() not in there]
    for task, base in tried[:_LOOKED_FOR]:
        if (name := roadmaps.tried_now(task, base, now)) is not None:
            found.setdefault(name, Renamed(id=name, was=task, title=roadmaps.title_at(task, base)))
    return tuple(found.values())


def called_before(project: Project, mileposts: Mileposts, posts: Sequence[Milepost], task: str) -> str:
    """What a task was called when it was worked on; its own name where it had no other."""
    try:
        known = renamed_here(project, mileposts, posts)
    except MilepostError:
        return task
    return next((one.was for one in known if one.id.lower() == task.lower()), task)
