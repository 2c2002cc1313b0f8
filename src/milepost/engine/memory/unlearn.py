"""What was learnt from work that was taken back: it is not told to anybody any more."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from milepost.engine.memory.episodes import owner_of_record, project_in_memory
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import SERVER, load
from milepost.engine.records.journal import Journal
from milepost.memory.lessons.learn import withdraw
from milepost.memory.lessons.lineage import SHORTEST_COMMIT
from milepost.memory.lessons.policy import UNDONE
from milepost.memory.memory import StoredMemory
from milepost.memory.store.owners import run_owner
from milepost.store.database import Database, open_database
from milepost.workspace.mileposts import Milepost, Mileposts


def unlearn(project: Project, undone: Iterable[Milepost]) -> tuple[str, ...]:
    """Quarantine the lessons that came from mileposts which were taken back, and from nothing else; gives those.

    Where the memory is off it stays as it is.
    """
    settings = load(project.roadmap.parent, uses=SERVER)
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


def owners_in(database: Database) -> Mapping[str, str]:
    """Whose the episodes of the runs are that are known here: names of runs come again elsewhere."""
    return {one.run: run_owner(owner_of_record(one)) for one in Journal(database).runs()}


def episodes_of(memory: StoredMemory, post: Milepost, project: str, owners: Mapping[str, str]) -> tuple[str, ...]:
    """The attempts at the task that a milepost ended, by their ids."""
    return memory.journal.of_task(post.run, post.task, project=project, owner=owners.get(post.run, ""))


def milepost_named(project: Project, commit: str) -> Milepost | None:
    """The milepost that a commit is, by at least seven of its hex digits; None where it is none."""
    if len(commit) < SHORTEST_COMMIT or not set(commit) <= set("0123456789abcdef"):
        return None
    with tempfile.TemporaryDirectory(prefix="milepost-") as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        whole = mileposts.resolve(commit)
        found = mileposts.history(whole, most=1) if whole else ()
    return next((post for post in found if post.commit == whole), None)
