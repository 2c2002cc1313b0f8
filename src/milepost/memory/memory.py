"""The memory of a project: what happened in it, and what was learnt; `memory.recall` tells of it."""

from __future__ import annotations

from milepost.core.memories import Episode
from milepost.memory.store.episodes import Journal
from milepost.memory.store.lessons import LessonBook
from milepost.memory.store.migrations import migrate
from milepost.memory.store.rows import Rows
from milepost.memory.store.sanitise import SHAPES, Redact
from milepost.store.database import Database


class StoredMemory:
    """Remembers in a database; with one in the process' own memory, as long as the process lives.

    `redact` takes secrets out of every text before it is kept. `project` is whose the attempts are that an earlier
    version of the program kept without saying so; without it they wait.
    """

    def __init__(self, database: Database, *, shared: bool = False, redact: Redact = SHAPES, project: str = "") -> None:
        self.rows = Rows(database, shared=shared)
        self.journal = Journal(self.rows, redact=redact)
        self.lessons = LessonBook(self.rows, redact=redact)
        migrate(database, self.journal.record, project)

    def record(self, episode: Episode) -> None:
        """There for the next process when this returns. An attempt is remembered once, as it was first told."""
        self.journal.record(episode)
