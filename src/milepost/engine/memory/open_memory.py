"""The memory of a run, and the primary that it shares with other machines, people and projects, where there is one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from milepost.core.memories import Took
from milepost.core.secrets.redact import Redactor
from milepost.engine.memory.episodes import project_in_memory
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.memory import MemorySettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.run_spec import RunSpec
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.memory.recall.semantic import open_meaning
from milepost.memory.store.migrations import version_of
from milepost.store.database import Database, open_database
from milepost.workspace.repository import Repository

INDEX = "recall.db"
NOWHERE = ":memory:"
EPISODES_READ = 1000  # by forecasts and choices of agents
EARLIER = 1  # the version of a memory that did not say whose it is


def open_memory(database: Database, settings: Settings, order: RunSpec, redact: Redactor) -> StoredMemory:
    """The memory as a run keeps it; where it is off, an empty one in a database of its own that is gone with it."""
    if order.memory.mode == "off":
        return StoredMemory(open_database(NOWHERE))
    shared = bool(settings.memory.primary) and order.memory.writes
    return StoredMemory(database, shared=shared, redact=redact, project=order.memory.project)


def whose(settings: Settings, project: str) -> str:
    """Whose attempts tell how tasks go here: a project's where others share the memory, else all that are in it."""
    return project if settings.memory.primary else ""


def took_here(roadmap: Path, database: Database) -> tuple[Took, ...]:
    """What attempts took, for who starts no run; a memory of an earlier version is brought to this one for it."""
    settings = load(roadmap.parent)
    if settings.memory.mode == "off":
        return ()
    if version_of(database) != EARLIER and not settings.memory.primary:
        return StoredMemory(database).journal.took(EPISODES_READ)
    project = Project.find(roadmap)
    name = project_in_memory(project, settings.memory.project, project.repository.position().commit)
    return StoredMemory(database, project=name).journal.took(EPISODES_READ, project=whose(settings, name))


def recaller_of(memory: StoredMemory, project: Project, order: RunSpec) -> Recaller:
    """What looks lessons up for the attempts of a run; its index is a cache beside the state."""
    meaning = open_meaning() if order.memory.semantic else None
    index = project.state / INDEX if order.memory.mode != "off" else None
    holdout = order.memory.holdout
    return Recaller(memory, index=index, holdout=holdout, meaning=meaning)


@contextmanager
def sharing(database: Database, settings: Settings, order: RunSpec, folder: Path) -> Iterator[None]:
    """Bring the memory and its primary up to date while a run is on; `folder` is that of the settings."""
    given = settings.memory
    may = order.memory.writes and bool(given.primary)
    if not may or is_of_the_repository(place_of(given, folder), Repository.find(folder).top):
        yield
        return
    from milepost.memory.sync import synchronising

    with synchronising(database, place_of(given, folder), token_of(given)):
        yield


def place_of(given: MemorySettings, folder: Path) -> str:
    """Where the primary is; the path of a file starts at the settings' folder."""
    if not given.primary or "://" in given.primary:
        return given.primary
    return str(folder.absolute() / Path(given.primary).expanduser())


def is_of_the_repository(place: str, top: Path) -> bool:
    """Whether a primary is a file in the tree of a repository: it may have come with it, as the settings did."""
    if "://" in place:
        return False
    ways = (Path(os.path.normpath(place)), Path(place).resolve())
    return any(way.is_relative_to(root) for way in ways for root in (top, top.resolve()))


def token_of(given: MemorySettings) -> str:
    """The token for the primary; empty where none is needed, or the environment has it not."""
    return os.environ.get(given.primary_token_from, "") if given.primary_token_from else ""


def waiting_rows(project: Project, settings: Settings) -> int:
    """How many rows of the memory its primary does not have yet; 0 where it has none."""
    server = settings.run.database
    if not settings.memory.primary or settings.memory.mode != "on" or not (server or project.database.exists()):
        return 0
    from milepost.memory.sync import status_of

    with closing(open_database(server or project.database)) as database:
        return status_of(database).waiting
