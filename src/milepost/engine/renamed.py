"""Tasks that the roadmap calls otherwise than when they were worked on, found again by being alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from milepost.core.errors import MilepostError
from milepost.core.likeness import found_again
from milepost.core.task import Task
from milepost.engine.journal import Journal, RunRecord
from milepost.engine.planning import manner_here, read_now
from milepost.engine.project import Project
from milepost.roadmap import read
from milepost.roadmap.manner import Manner
from milepost.workspace.mileposts import Milepost, Mileposts

# How many names that are off the roadmap are looked for, the newest first: each may take reading an older one.
_LOOKED_FOR = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A task by its id now, and what it was called when it was worked on."""

    id: str
    was: str
    title: str


@dataclass(frozen=True, slots=True)
class _Sighting:
    """A task that was worked on, and a commit in whose roadmap it stood."""

    task: str
    commit: str


class Roadmaps:
    """The roadmap of a project as it was at commits; each is read once, and one that cannot be read has no tasks."""

    def __init__(self, mileposts: Mileposts, path: str, manner: Manner) -> None:
        self._mileposts, self._path, self._manner = mileposts, path, manner
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

    def title(self, task: str, commit: str) -> str:
        """What a task was called at a commit."""
        return next((one.title for one in self.at(commit) if one.id.lower() == task.lower()), "")

    def name_now(self, task: str, commit: str, now: Sequence[Task]) -> str | None:
        """What a task of the roadmap at a commit is called among the tasks that there are now."""
        then = self.at(commit)
        known = next((one for one in then if one.id.lower() == task.lower()), None)
        if known is None:
            return None
        again = found_again(known, now, then)
        return None if again is None else again.id


def renamed_here(project: Project, mileposts: Mileposts, posts: Sequence[Milepost]) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that were worked on under another name; the newest of several names counts."""
    now = read_now(project).tasks
    there = {one.id.lower() for top in now for one in top.walk()}
    roadmaps = Roadmaps(mileposts, project.roadmap_in_tree, manner_here(project))
    with Journal.look(project.database) as journal:
        seen = _sightings(posts, [one for one in journal.runs() if one.order["roadmap"] == project.roadmap_in_tree])
        lost = {one.task: one for one in reversed([one for one in seen if one.task.lower() not in there])}
    found: dict[str, Renamed] = {}
    for one in islice(reversed(lost.values()), _LOOKED_FOR):
        name = roadmaps.name_now(one.task, one.commit, now)
        if name is not None and name.lower() in there and name not in found:
            found[name] = Renamed(id=name, was=one.task, title=roadmaps.title(one.task, one.commit))
    return tuple(found.values())


def called_before(project: Project, mileposts: Mileposts, posts: Sequence[Milepost], task: str) -> str:
    """What a task was called when it was worked on; its own name where it had no other."""
    try:
        known = renamed_here(project, mileposts, posts)
    except MilepostError:
        return task
    return next((one.was for one in known if one.id.lower() == task.lower()), task)


def _sightings(posts: Sequence[Milepost], runs: Sequence[RunRecord]) -> Iterator[_Sighting]:
    """Whatever was worked on, the newest first, mileposts before attempts."""
    for post in posts:
        yield from (_Sighting(task, f"{post.commit}^") for task in post.tasks)
    for run in runs:
        yield from (_Sighting(task, run.order["base"]) for task in run.order["tasks"])
