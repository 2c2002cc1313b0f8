"""What was learnt from work that was taken back: it is not told to anybody any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from milepost.engine.memory.episodes import project_in_memory
from milepost.engine.memory.milepost_episodes import episodes_of, owners_in
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.memory.lessons.learn import withdraw
from milepost.memory.lessons.policy import UNDONE
from milepost.memory.memory import StoredMemory
from milepost.store.database import open_database
from milepost.workspace.mileposts import Milepost


def unlearn(project: Project, undone: Iterable[Milepost]) -> tuple[str, ...]:
    """Quarantine the lessons that came from mileposts which were taken back, and from nothing else; gives those.

    Where the memory is off it stays as it is.
    """
    settings = load(project.roadmap.parent)
    place = replace(project, server=settings.run.database).store
    if settings.memory.mode == "off" or not (settings.run.database or project.database.exists()):
        return ()
    name = project_in_memory(project, settings.memory.project, project.repository.position().commit)
    with closing(open_database(place)) as database:
        owners = owners_in(database)
        memory = StoredMemory(database, shared=bool(settings.memory.primary), project=name)
        return quarantine(memory, undone, name, owners)


def quarantine(
    memory: StoredMemory, undone: Iterable[Milepost], project: str, owners: Mapping[str, str]
) -> tuple[str, ...]:
    """Put lessons out of use whose every source is an episode of work that was taken back; harmless when repeated.

    The names of runs come again: `owners` has whose the episodes of those are that are known here.
    """
    posts = {episode: post for post in undone for episode in episodes_of(memory, post, project, owners)}
    moved = []
    for standing in memory.lessons.standings():
        if standing.sources and posts.keys() >= set(standing.sources) and standing.state in ("candidate", "active"):
            post = posts[standing.sources[-1]]
            withdraw(memory, [standing], f"{UNDONE}: the milepost of {post.task} ({post.commit[:7]}) was undone")
            moved.append(standing.lesson.id)
    return tuple(moved)
