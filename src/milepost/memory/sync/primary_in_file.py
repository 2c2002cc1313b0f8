"""A primary in a SQLite file, such as one in a folder that several projects or machines have."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from milepost.core.errors import DatabaseAway, DatabaseRefuses, MilepostError, ValueRefused
from milepost.store.dialect import SQLITE, kept, statements
from milepost.store.rows import Row, Statement
from milepost.store.transaction import whole

T = TypeVar("T")

BUSY_S = 5.0


class FilePrimary:
    """Opens the file for each call: one that was replaced meanwhile is never written to in vain.

    It keeps the journal mode that the file has: the one of the engine's own files does not work over a network.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def script(self, sql: str) -> None:
        self.apply([(statement, ()) for statement in statements(sql, SQLITE)])

    def apply(self, wanted: Sequence[Statement]) -> None:
        with self._opened() as database:
            apply_to(database, wanted)

    def read(self, sql: str, *values: object) -> list[Row]:
        with self._opened() as database:
            return read_from(database, sql, *values)

    def close(self) -> None:
        """Nothing is kept open."""

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with (
            told_as_ours(str(self._path)),
            closing(sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)) as database,
        ):
            database.execute("pragma synchronous=full")
            yield database


class MemoryPrimary:
    """A primary in this process' own memory, for tries and tests; `away` makes it as one that does not answer."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.away = False

    def script(self, sql: str) -> None:
        self.apply([(statement, ()) for statement in statements(sql, SQLITE)])

    def apply(self, wanted: Sequence[Statement]) -> None:
        self._do(lambda: apply_to(self._database, wanted))

    def read(self, sql: str, *values: object) -> list[Row]:
        return self._do(lambda: read_from(self._database, sql, *values))

    def close(self) -> None:
        """It stays as long as somebody has it."""

    def _do(self, act: Callable[[], T]) -> T:
        if self.away:
            raise DatabaseAway("the primary is not available", "")
        with told_as_ours("memory"):
            return act()


def apply_to(database: sqlite3.Connection, wanted: Sequence[Statement]) -> None:
    """Run statements as one."""
    with whole(database.execute, 0, "begin immediate"):
        for sql, values in wanted:
            database.execute(sql, tuple(map(kept, values)))


def read_from(database: sqlite3.Connection, sql: str, *values: object) -> list[Row]:
    return database.execute(sql, tuple(map(kept, values))).fetchall()


@contextmanager
def told_as_ours(name: str) -> Iterator[None]:
    """What SQLite complains of, in our own errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise _ours(name, error) from error


def _ours(name: str, error: sqlite3.Error) -> MilepostError:
    said = str(error)
    if isinstance(error, sqlite3.DataError) or "too big" in said:
        return ValueRefused(f"{name!r} cannot keep a value: {said}", "")
    if any(sign in said for sign in ("unable to open", "locked", "disk I/O")):
        return DatabaseAway(f"{name!r} cannot be opened: {said}", "make sure that its folder exists and is writable")
    return DatabaseRefuses(f"{name!r} refuses: {said}", "make sure that it is a writable SQLite file")
