"""The index of a memory: a cache file that can be deleted at any time, and is made again from the memory's rows."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from milepost.core.errors import StateUnwritable
from milepost.memory.recall import update_index
from milepost.memory.recall.index_rows import Entries
from milepost.memory.store.rows import Rows

T = TypeVar("T")

BUSY_TIMEOUT_S = 30


class Index:
    """Finds episodes and lessons; brought up to date whenever it is used. Without a path it is in memory.

    A file that is damaged is thrown away and made again. Where none can be written, the index is in memory: it is a
    cache, and no reason to stop.
    """

    def __init__(self, rows: Rows, path: Path | None) -> None:
        self._rows = rows
        self._path = path
        self._lock = threading.RLock()
        self._entries: Entries | None = None
        self._file: tuple[int, int] | None = None

    def use(self, act: Callable[[Entries], T]) -> T:
        """What comes of looking into an index that knows all that the memory has; `act` may be called twice."""
        with self._lock:
            try:
                return self._used(act)
            except sqlite3.Error as error:
                self._give_up(error)
            try:
                return self._used(act)
            except sqlite3.Error as error:
                raise StateUnwritable(
                    f"the memory cannot be searched: {error}", "free some space, then try again"
                ) from error

    def rebuild(self) -> None:
        """Make it again from the memory's rows; an error where its file cannot be made."""
        with self._lock:
            wanted = self._path
            self._throw_away()
            is_stuck = wanted is not None and wanted.exists()
            self.use(lambda entries: None)
            if is_stuck or self._path != wanted:
                raise StateUnwritable(
                    f"the index {str(wanted)!r} cannot be rebuilt",
                    "make its folder writable; until then memories are searched without it",
                )

    def close(self) -> None:
        with self._lock:
            if self._entries is not None:
                with suppress(sqlite3.Error):
                    self._entries.db.close()
            self._entries = None

    def _used(self, act: Callable[[Entries], T]) -> T:
        if self._entries is not None and self._file != self._identity():
            self.close()  # somebody deleted or replaced the file
        if self._entries is None:
            self._entries = self._open()
            self._file = self._identity()
        update_index.catch_up(self._entries, self._rows)
        return act(self._entries)

    def _open(self) -> Entries:
        place = str(self._path) if self._path else ":memory:"
        db = sqlite3.connect(place, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            if self._path:
                db.execute("pragma journal_mode = wal")
                db.execute("pragma synchronous = off")  # what a crash of the machine damages is made again
            return Entries(db)
        except BaseException:
            db.close()
            raise

    def _identity(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        with suppress(OSError):
            there = self._path.stat()
            return there.st_dev, there.st_ino
        return None

    def _give_up(self, error: sqlite3.Error) -> None:
        """Throw a damaged file away; do without one where the place is the trouble."""
        self._throw_away()
        if isinstance(error, sqlite3.OperationalError) and not str(error).startswith(("no such", "malformed")):
            self._path = None

    def _throw_away(self) -> None:
        self.close()
        if self._path is not None:
            for end in ("", "-wal", "-shm"):
                with suppress(OSError):
                    self._path.with_name(self._path.name + end).unlink(missing_ok=True)
