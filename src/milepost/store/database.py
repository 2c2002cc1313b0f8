"""One database for many threads: SQLite in a file by default, PostgreSQL where several machines share a run.

Statements are written once, for both: `?` for values, `double precision` for times, `{serial}` for a key that
counts up, `on conflict` for what is kept once. Each statement is a transaction of its own unless `alone` is used.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from milepost.core.errors import StateUnwritable

Row = tuple[Any, ...]
T = TypeVar("T")

BUSY_TIMEOUT_S = 30
AWAY_S = 120.0  # how long a server may be away before that is an error
SCHEMA_LOCK = 0x6D70  # makes the tables one process at a time


class Database(Protocol):
    """Runs statements; may be used from several threads."""

    def script(self, sql: str) -> None: ...
    def write(self, sql: str, *values: object) -> int: ...
    def read(self, sql: str, *values: object) -> list[Row]: ...
    def alone(self, name: str) -> Any: ...
    def close(self) -> None: ...


def is_server(place: Path | str) -> bool:
    """Whether a place is the address of a database server, not a file."""
    return str(place).startswith(("postgresql:", "postgres:", "postgresql+psycopg:"))


def open_database(place: Path | str) -> Database:
    """The database in a file, or at the address of a server."""
    return ServerDatabase(str(place)) if is_server(place) else FileDatabase(Path(place))


class FileDatabase:
    """A database in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        try:
            self._db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        try:
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
        except sqlite3.Error as error:
            self._db.close()
            raise _unusable(path, error) from error

    def script(self, sql: str) -> None:
        """Run the statements of a schema; harmless when repeated."""
        with self._lock, self._guarded():
            self._db.executescript(sql.replace("{serial}", "integer primary key autoincrement"))

    def write(self, sql: str, *values: object) -> int:
        """Run a statement; gives how many rows it changed."""
        with self._lock, self._guarded():
            return self._db.execute(sql, values).rowcount

    def read(self, sql: str, *values: object) -> list[Row]:
        with self._lock, self._guarded():
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Several statements as one transaction, while nobody else runs one under this name."""
        with self._lock, self._guarded():
            self._db.execute("begin immediate")
            try:
                yield
                self._db.execute("commit")
            except BaseException:
                self._db.execute("rollback")
                raise

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error


class ServerDatabase:
    """A database on a PostgreSQL server; one that is away for a while is waited for."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("postgresql+psycopg:", "postgresql:")
        self._lock = threading.RLock()
        self._db: Any = None
        self._inside = False

    def script(self, sql: str) -> None:
        """Run the statements of a schema; harmless when repeated, also by several machines at once."""
        with self.alone("schema"):
            for statement in sql.replace("{serial}", "bigserial primary key").split(";"):
                if statement.strip():
                    self._run(statement)

    def write(self, sql: str, *values: object) -> int:
        """Run a statement; gives how many rows it changed. One whose answer is lost is run again."""
        return self._insisting(lambda: int(self._run(sql, *values).rowcount))

    def read(self, sql: str, *values: object) -> list[Row]:
        return self._insisting(lambda: list(self._run(sql, *values).fetchall()))

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Several statements as one transaction, while nobody else, on any machine, runs one under this name."""
        with self._lock:
            self._insisting(lambda: self._run("select 1").fetchall())
            with self._connection().transaction():
                self._run("select pg_advisory_xact_lock(?, hashtext(?))", SCHEMA_LOCK, name)
                self._inside = True
                try:
                    yield
                finally:
                    self._inside = False

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()

    def _run(self, sql: str, *values: object) -> Any:
        return self._connection().execute(sql.replace("%", "%%").replace("?", "%s"), values)

    def _connection(self) -> Any:
        import psycopg

        if self._db is None or self._db.closed:
            self._db = psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        return self._db

    def _insisting(self, act: Callable[[], T]) -> T:
        """What comes of a statement, tried again while the server is away; not inside a transaction, which is lost."""
        import psycopg

        until, pause_s = time.monotonic() + AWAY_S, 0.05
        while True:
            try:
                with self._lock:
                    return act()
            except psycopg.OperationalError as error:
                if self._inside or time.monotonic() > until:
                    raise _away(error) from error
                self._forget()
            except psycopg.Error as error:
                raise _away(error) from error
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, 2.0)

    def _forget(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None


def _unusable(path: Path, error: sqlite3.Error) -> StateUnwritable:
    if "not a database" in str(error) or "malformed" in str(error):
        advice = f"move {path.parent.name}/ away and go on: the mileposts and their proofs are in git"
        return StateUnwritable(f"{str(path)!r} is damaged: {error}", advice)
    return StateUnwritable(
        f"{str(path)!r} cannot be used: {error}", "make it writable or free some space, then: milepost resume"
    )


def _away(error: Exception) -> StateUnwritable:
    said = " ".join(str(error).split())
    return StateUnwritable(f"the database cannot be used: {said}", "see that it runs and can be reached, then go on")
