"""A database on a PostgreSQL server; one that goes away for a while is waited for."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg

from milepost.core.errors import SettingInvalid, StateUnwritable
from milepost.store.dialect import POSTGRES, for_psycopg, kept, statements
from milepost.store.group_commit import Convoy
from milepost.store.rows import Row
from milepost.store.transaction import whole

T = TypeVar("T")

AWAY_S = 120.0  # how long a server that was there may be away before that is an error
CONNECT_S = 10.0
ABSENT_S = 5.0  # the same for one that never answered: the address may be wrong
LONGEST_PAUSE_S = 2.0
NAMES = 0x6D70  # the advisory locks of our names, apart from those of others
STUCK = "30s"  # a process that stands still in the middle loses its transaction, and others go on

# What may be over in a while: the server is away, it cut us off, or it is about to hand over to another.
PASSING = (
    psycopg.OperationalError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)
# What no waiting mends at an address that never answered, by the text: a refused connection has no code.
HOPELESS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "failed to resolve host")

_COLUMNS = """
    select attname from pg_catalog.pg_attribute where attrelid = to_regclass(quote_ident(?)) and attnum > 0
    and not attisdropped
"""
_SCRIPTS = "create table if not exists milepost_scripts (digest text primary key)"


class ServerDatabase:
    """One connection, used by one thread at a time, and made again when it is lost."""

    def __init__(self, url: str, away_s: float = AWAY_S) -> None:
        self._away_s = away_s
        self._url = url.replace("postgresql+psycopg:", "postgresql:")
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._seen = False
        self._depth = 0
        self._user = 0  # the thread that is inside of a transaction
        self._convoys: dict[str, Convoy] = {}
        self._db: psycopg.Connection[Row] | None = None
        self.read("select 1")

    def script(self, sql: str) -> None:
        """Run the statements of a schema once, also when several machines come with it."""
        wanted = statements(sql, POSTGRES)
        digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()

        def make() -> None:
            for statement in (_SCRIPTS, *wanted):
                self._run(statement)
            self._run("insert into milepost_scripts (digest) values (?) on conflict do nothing", digest)

        if not self._was_run(digest):  # to make what is there already would wait for everybody who writes
            self.together("schema", make)

    def write(self, sql: str, *values: object) -> int:
        """Run a statement; gives how many rows it changed. One whose answer is lost is run again."""
        return self._insisting(lambda: self._run(sql, *values).rowcount)

    def read(self, sql: str, *values: object) -> list[Row]:
        return self._insisting(lambda: self._run(sql, *values).fetchall())

    def columns(self, table: str) -> frozenset[str]:
        """The names of the columns of a table; none where there is no such table."""
        return frozenset(name for (name,) in self.read(_COLUMNS, table))

    def together(self, name: str, act: Callable[[], T], *, durable: bool = False) -> T:
        """What comes of statements that count as one, while nobody else, on any machine, runs such under this name."""
        if durable and self._user != threading.get_ident():
            convoy = self._convoys.setdefault(name, Convoy(lambda acts: self._together(name, acts)))
            return convoy.carry(act)
        return self._together(name, act)

    def _together(self, name: str, act: Callable[[], T]) -> T:
        def once() -> T:
            with self._transaction(name):
                return act()

        return self._insisting(once)

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """A block of statements that count as one, while nobody else, on any machine, runs one under this name."""
        self.read("select 1")  # a server that is away now is waited for; in the middle it cannot be
        with self._lock:
            try:
                with self._transaction(name):
                    yield
            except psycopg.Error as error:
                if self._depth:
                    raise
                raise _unusable(error) from error

    def vacuum(self) -> None:
        """Nothing: a server sees to its room by itself."""

    def close(self) -> None:
        """Close it once nobody uses it; whoever waits for the server is told, later use is refused."""
        self._closed.set()
        with self._lock:
            self._drop()

    def _was_run(self, digest: str) -> bool:
        if self.read("select to_regclass('milepost_scripts')") == [(None,)]:
            return False
        return bool(self.read("select 1 from milepost_scripts where digest = ?", digest))

    @contextmanager
    def _transaction(self, name: str) -> Iterator[None]:
        self._connection()
        self._depth += 1
        self._user = threading.get_ident()
        try:
            with whole(self._run, self._depth - 1, "begin"):
                self._run("select pg_advisory_xact_lock(?, hashtext(?))", NAMES, name)
                yield
        finally:
            self._depth -= 1
            self._user = self._user if self._depth else 0

    def _run(self, sql: str, *values: object) -> psycopg.Cursor[Row]:
        return self._connection().execute(for_psycopg(sql).encode(), tuple(map(kept, values)))

    def _connection(self) -> psycopg.Connection[Row]:
        if self._db is not None and not self._db.closed:
            return self._db
        if self._depth:
            raise psycopg.OperationalError("the connection was lost in the middle of a transaction")
        self._db = _connect(self._url, self._away_s)
        self._seen = True
        return self._db

    def _insisting(self, act: Callable[[], T]) -> T:
        """What comes of an act, tried again while the server is away; not inside a transaction, which is lost."""
        began, pause_s = time.monotonic(), 0.05
        while True:
            with self._lock:
                if self._closed.is_set():
                    raise StateUnwritable("the database was closed", "open it again")
                if self._db is None and time.monotonic() - began > self._away_s:
                    raise _away()  # others tried meanwhile, one after the other
                try:
                    return act()
                except psycopg.Error as error:
                    if self._depth:
                        raise
                    if not self._is_worth_waiting(error, time.monotonic() - began):
                        raise _unusable(error) from error
                    self._drop()
            self._closed.wait(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _is_worth_waiting(self, error: psycopg.Error, waited_s: float) -> bool:
        if not isinstance(error, PASSING):
            return False
        if self._seen:
            return waited_s < self._away_s
        return waited_s < min(ABSENT_S, self._away_s) and not any(sign in str(error) for sign in HOPELESS)

    def _drop(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
            self._db = None


def _connect(url: str, within_s: float = CONNECT_S) -> psycopg.Connection[Row]:
    """A connection that notices when the other side is gone for good."""
    try:
        connection: psycopg.Connection[Any] = psycopg.connect(
            url,
            autocommit=True,
            prepare_threshold=None,  # a pooler in between may give the next statement to another session
            connect_timeout=max(2, int(min(CONNECT_S, within_s))),  # libpq knows no less
            application_name="milepost",
            keepalives_idle=20,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=30_000,
        )
    except psycopg.ProgrammingError:
        # Not in psycopg's words: they quote the address, which may hold a password.
        raise SettingInvalid(
            "the address of the database cannot be read",
            "postgresql://user:password@host:5432/name, special characters as %XX",
        ) from None
    connection.execute(f"set idle_in_transaction_session_timeout = '{STUCK}'".encode())
    return connection


def _away() -> StateUnwritable:
    return StateUnwritable("the database is not available", "make sure that it runs and can be reached, then try again")


def _unusable(error: psycopg.Error) -> StateUnwritable:
    said = " ".join(str(error).split())
    return StateUnwritable(
        f"the database cannot be used: {said}", "make sure that it runs and can be reached, then try again"
    )
