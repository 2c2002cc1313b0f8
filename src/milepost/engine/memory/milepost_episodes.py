"""The episodes of work that mileposts ended: what is remembered of a commit that people see."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from milepost.engine.memory.episodes import owner_of_record
from milepost.engine.project.project import Project
from milepost.engine.records.journal import Journal
from milepost.memory.lessons.lineage import SHORTEST_COMMIT
from milepost.memory.memory import StoredMemory
from milepost.memory.store.owners import run_owner
from milepost.store.database import Database
from milepost.workspace.mileposts import Milepost, Mileposts


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
