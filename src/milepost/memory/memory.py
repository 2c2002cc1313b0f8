"""The memory of a project: what happened in it, what was learnt, and what of that is told to the next attempt."""

from __future__ import annotations

from milepost.core.memories import Episode, Lessons, Query
from milepost.memory.journal import Journal
from milepost.memory.lesson_book import LessonBook
from milepost.memory.rows import Rows
from milepost.store.database import Database


class StoredMemory:
    """Remembers in a database; with one in the process' own memory, as long as the process lives."""

    def __init__(self, database: Database, *, shared: bool = False) -> None:
        self.rows = rows = Rows(database, shared=shared)
        self.journal = Journal(rows)
        self.lessons = LessonBook(rows)

    def recall(self, query: Query) -> Lessons:
        """What an attempt is told; nothing where nothing fits."""
        return Lessons(explanation=("nothing was learnt yet",))

    def record(self, episode: Episode) -> None:
        """There for the next process when this returns. An attempt is remembered once, as it was first told."""
        self.journal.record(episode)
