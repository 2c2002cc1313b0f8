"""What was learnt from work that was taken back: it is not told to anybody any more."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from milepost.engine.project import Project
from milepost.engine.settings import load
from milepost.memory.learning import withdraw
from milepost.memory.memory import StoredMemory
from milepost.memory.policy import UNDONE
from milepost.store.database import open_database
from milepost.workspace.mileposts import Milepost


def unlearn(project: Project, undone: Iterable[Milepost]) -> tuple[str, ...]:
    """Quarantine the lessons that came from mileposts which were taken back, and from nothing else; gives those."""
    if not project.database.exists():
        return ()
    shared = bool(load(project.roadmap.parent).memory.primary)
    with closing(open_database(project.database)) as database:
        return quarantine(StoredMemory(database, shared=shared), undone)


def quarantine(memory: StoredMemory, undone: Iterable[Milepost]) -> tuple[str, ...]:
    """Put lessons out of use whose every source is an episode of work that was taken back; harmless when repeated."""
    posts = {episode: post for post in undone for episode in memory.journal.of_task(post.run, post.task)}
    moved = []
    for standing in memory.lessons.standings():
        if standing.sources and posts.keys() >= set(standing.sources) and standing.state in ("candidate", "active"):
            post = posts[standing.sources[-1]]
            withdraw(memory, [standing], f"{UNDONE}: the milepost of {post.task} ({post.commit[:7]}) was taken back")
            moved.append(standing.lesson.id)
    return tuple(moved)
