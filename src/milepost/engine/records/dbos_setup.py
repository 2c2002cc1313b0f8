"""How DBOS is set up: where it keeps its records, in which shape, and what its failures mean."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from dbos import DBOS
from dbos._dbos import _get_or_create_dbos_registry

from milepost.core.errors import StateUnwritable
from milepost.engine.records import portable_rows
from milepost.engine.records.run_spec import VERSION

TAKING_UP_PAUSE_S = 0.1  # between two looks for workflows that a killed engine left
LEISURE_PAUSE_S = 1.0  # the same where there are none
MIGRATION_LOCK = 0x6D70_6462  # the advisory lock of whoever makes or migrates the tables of DBOS
MIGRATION_PAUSE_S = 0.1  # between two tries to get it
_launching = threading.local()


def configure(url: str, *, executor_id: str, engine: sqlalchemy.Engine | None = None) -> None:
    """Make the DBOS of this process, which `launch` starts."""
    DBOS(
        config={
            "name": "milepost",
            "system_database_url": url,
            "system_database_engine": engine,
            "executor_id": executor_id,
            "application_version": VERSION,
            "serializer": portable_rows.JSON,
            "log_level": "CRITICAL",
            "notification_listener_polling_interval_sec": 1.0,
        }
    )
    logging.getLogger("dbos").setLevel(logging.CRITICAL)


def take_up(*, soon: bool) -> None:
    """Let DBOS look often for the workflows that it puts back after a crash, or as seldom as it does by itself.

    It has no public way to say so, and only a pause depends on it; each look costs some milliseconds.
    """
    queue = _get_or_create_dbos_registry().get_internal_queue()
    queue._polling_interval_sec = TAKING_UP_PAUSE_S if soon else LEISURE_PAUSE_S


def launch(rows: sqlalchemy.Engine, run: str = "") -> None:
    """Start DBOS; its tables are made where there are none. `rows` reads what it will read, of one run or of all."""
    _launching.here = True
    try:
        with _migration_lock(rows):
            portable_rows.guard(rows, run)
            DBOS.launch()
    except Exception as error:
        raise in_our_words(error) from error
    finally:
        _launching.here = False


@contextmanager
def _migration_lock(engine: sqlalchemy.Engine) -> Iterator[None]:
    """Let one process at a time make or migrate the tables of a shared database: another would read half of them.

    It asks again and again instead of waiting in the server: a statement that waits there would hold up an index
    that DBOS builds concurrently. SQLite needs none of this, since a state has one process.
    """
    if engine.dialect.name == "sqlite":
        yield
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        got = sqlalchemy.select(sqlalchemy.func.pg_try_advisory_lock(MIGRATION_LOCK))
        while not connection.scalar(got):
            time.sleep(MIGRATION_PAUSE_S)
        yield  # the lock goes with the connection


def sqlite_engine(database: Path) -> sqlalchemy.Engine:
    """An engine in WAL mode, which DBOS does not choose by itself: several times faster, as safe against kill -9.

    While a thread launches DBOS, which makes its tables, every transaction of it is begun in so many words,
    so that the tables are made all or none: Python by itself begins none for a table.
    """
    address = sqlalchemy.URL.create("sqlite", database=str(database))  # a text would be decoded
    engine = sqlalchemy.create_engine(address, pool_size=20, max_overflow=20)

    @sqlalchemy.event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("busy_timeout=30000", "foreign_keys=on", "journal_mode=wal", "synchronous=normal"):
            connection.execute(f"pragma {pragma}")
        if sqlite3.sqlite_version_info < (3, 42):
            connection.create_function("unixepoch", -1, _unixepoch)

    @sqlalchemy.event.listens_for(engine, "begin")
    def begin(connection: sqlalchemy.Connection) -> None:
        if getattr(_launching, "here", False):
            connection.exec_driver_sql("begin immediate")

    return engine


def server_engine(url: str) -> sqlalchemy.Engine:
    """An engine for the database that workers share, beside the one that DBOS makes for itself."""
    return sqlalchemy.create_engine(f"postgresql+psycopg:{url.partition(':')[2]}", poolclass=sqlalchemy.NullPool)


def _unixepoch(*words: str) -> float:
    """What `unixepoch('subsec')` gives from SQLite 3.42 on; DBOS asks for it on Python 3.12, whatever SQLite it has."""
    return time.time() if "subsec" in words else int(time.time())


def in_our_words(error: BaseException) -> Exception:
    """A failure of the database or the disk as the error that says what to do about it."""
    advice = "free some space or make it writable, then: milepost resume"
    if isinstance(error, sqlalchemy.exc.DBAPIError):
        return StateUnwritable(f"the run's database cannot be used: {error.orig}", advice)
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        where = f"{error.filename!r}: " if error.filename else ""
        return StateUnwritable(f"{where}{error.strerror or error}", advice)
    return error if isinstance(error, Exception) else BrokenPipeError(f"an event listener failed: {error!r}")
