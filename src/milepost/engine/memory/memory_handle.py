"""The memory of a project while it is open: its rows, and the index by which they are searched.

It is the engine's own database, opened without its lock: all that is done with it is short, and a run may be on.
"""

from __future__ import annotations

from pathlib import Path

from milepost.core.secrets.redact import Redactor
from milepost.engine.memory.location import MemoryHome
from milepost.engine.memory.open_memory import NOWHERE
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.state_directory import make_state
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.memory.recall.semantic import open_meaning
from milepost.memory.store.queries import Catalogue
from milepost.store.database import Database, open_database


class OpenedMemory:
    """Where nothing was ever kept it is empty, and creates nothing until something is to be kept."""

    database: Database
    stored: StoredMemory
    catalogue: Catalogue
    recaller: Recaller

    def __init__(self, home: MemoryHome) -> None:
        self.home = home
        self.redact = Redactor(known_secrets(home.settings))
        self._open(home.place if home.is_there else NOWHERE)
        self.is_there = home.is_there

    @property
    def project(self) -> str:
        return self.home.name

    def close(self) -> None:
        self.recaller.close()
        self.database.close()

    def keep(self) -> None:
        """Have something to write into, where there was nothing yet; what was opened before is opened anew then."""
        if not self.is_there:
            make_state(self.home.state)
            self.close()
            self._open(self.home.place)
            self.is_there = True

    def vacuum(self) -> int:
        """How many bytes its files gave back; none where nothing was ever kept."""
        if not self.is_there:
            return 0
        before = self.home.size_bytes()
        self.database.vacuum()
        return max(0, before - self.home.size_bytes())

    def _open(self, place: Path | str) -> None:
        home = self.home
        self.database = open_database(place)
        self.stored = StoredMemory(
            self.database, shared=bool(home.memory.primary), redact=self.redact, project=home.name
        )
        self.catalogue = Catalogue(self.stored.rows)
        index = None if place == NOWHERE or not home.state.is_dir() else home.index
        meaning = open_meaning() if home.memory.semantic else None
        self.recaller = Recaller(self.stored, index=index, holdout=home.memory.holdout, meaning=meaning)
