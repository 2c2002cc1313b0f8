"""A database in one SQLite file, shared with whoever else has it open."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from milepost.core.errors import StateUnwritable
from milepost.store.dialect import SQLITE, kept, statements
from milepost.store.group_commit import Convoy
from milepost.store.rows import Row
from milepost.store.transaction import whole

T = TypeVar("T")

BUSY_TIMEOUT_S = 30
USUAL = "normal"  # kill -9 loses nothing, a power cut maybe the last moments


class FileDatabase:
    """One connection, used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._depth = 0
        self._user = 0  # the thread that is inside of a transaction
        self._convoys: dict[str, Convoy] = {}
        with self._guarded():
            self._only_read = _is_only_read(path)
            name = _to_look_at(path) if self._only_read else path
            self._db = sqlite3.connect(
                name, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, uri=self._only_read
            )
        try:
            with self._guarded():
                if not self._only_read:
                    self._use_wal()
                    self._db.execute(f"pragma synchronous={USUAL}")
                    self._db.execute("pragma secure_delete=on")  # what is masked later is not in the file any more
        except BaseException:
            self._db.close()
            raise

    def script(self, sql: str) -> None:
        """Run the statements of a schema; harmless when repeated, and what is there already needs no writing."""
        if self._only_read:
            return
        with self._lock, self._guarded():
            for statement in statements(sql, SQLITE):
                self._db.execute(statement)

    def write(self, sql: str, *values: object) -> int:
        """Run a statement; gives how many rows it changed."""
        with self._lock, self._guarded():
            return self._db.execute(sql, tuple(map(kept, values))).rowcount

    def read(self, sql: str, *values: object) -> list[Row]:
        """The rows that a statement gives; none of a table that is still missing where it cannot be made."""
        with self._lock, self._guarded():
            try:
                return self._db.execute(sql, tuple(map(kept, values))).fetchall()
            except sqlite3.OperationalError as error:
                if self._only_read and str(error).startswith("no such table"):
                    return []
                raise

    def columns(self, table: str) -> frozenset[str]:
        """The names of the columns of a table; none where there is no such table."""
        return frozenset(name for (name,) in self.read("select name from pragma_table_info(?)", table))

    def together(self, name: str, act: Callable[[], T], *, durable: bool = False) -> T:
        """What comes of statements that count as one, while nobody else runs any."""
        if durable and self._user != threading.get_ident():
            convoy = self._convoys.setdefault(name, Convoy(lambda acts: self._together(name, acts, durable=True)))
            return convoy.carry(act)
        return self._together(name, act, durable=False)

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """A block of statements that count as one, while nobody else runs any: SQLite has one writer at a time."""
        with self._lock, self._guarded(), whole(self._db.execute, self._depth, "begin immediate"):
            self._depth += 1
            self._user = threading.get_ident()
            try:
                yield
            finally:
                self._depth -= 1
                self._user = self._user if self._depth else 0

    def _together(self, name: str, act: Callable[[], T], *, durable: bool) -> T:
        with self._lock, self._on_disk() if durable else nullcontext(), self.alone(name):
            return act()

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Have what is committed meanwhile on the disk itself, for the price of waiting for it."""
        with self._guarded():
            self._db.execute("pragma synchronous=full")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # a connection that is broken tells whoever uses it next
                self._db.execute(f"pragma synchronous={USUAL}")

    def vacuum(self) -> None:
        """Give back the room of what was deleted."""
        with self._lock, self._guarded():
            self._db.execute("vacuum")
            self._db.execute("pragma wal_checkpoint(truncate)")

    def close(self) -> None:
        """Close it once nobody uses it; later use is refused."""
        with self._lock:
            self._db.close()

    def _use_wal(self) -> None:
        """Readers and the writer do not wait for each other in this mode; two that switch to it at once might."""
        until = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                self._db.execute("pragma journal_mode=wal")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error


def _is_only_read(path: Path) -> bool:
    """Whether a database is there, in a folder in which nobody here may write."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def _to_look_at(path: Path) -> str:
    """The address of a database that is only read; without the file of its writer it is taken as it is, unchanging."""
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    return f"{path.absolute().as_uri()}?{how}"


def _unusable(path: Path, error: sqlite3.Error) -> StateUnwritable:
    if "not a database" in str(error) or "malformed" in str(error):
        advice = f"move {path.parent.name}/ away and continue: the mileposts and their proofs are in git"
        return StateUnwritable(f"{str(path)!r} is damaged: {error}", advice)
    advice = "make it writable or free some space, then try again; to continue a run: milepost resume"
    return StateUnwritable(f"{str(path)!r} cannot be used: {error}", advice)
