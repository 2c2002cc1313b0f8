"""A primary on a PostgreSQL server: unlike the engine's own database it is never waited for."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from milepost.core.errors import DatabaseAway, DatabaseRefuses, MilepostError, SettingInvalid, ValueRefused
from milepost.store.connection_timeout import Patience, within
from milepost.store.dialect import POSTGRES, for_psycopg, kept, statements
from milepost.store.postgres import NAMES
from milepost.store.rows import Row, Statement

# Whoever writes rows of a memory holds this lock, an engine whose home it is, too: so rows become visible in the order
# of their rowids, and two that add the same rows do not wait for each other.
_LOCK = "select pg_advisory_xact_lock(%s, hashtext('memory'))"

_AWAY = (
    psycopg.OperationalError,
    psycopg.errors.QueryCanceled,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)
# What psycopg would print of a connection that is lost: we tell it ourselves.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_OF_A_VALUE = (psycopg.DataError, psycopg.errors.ProgramLimitExceeded)


class PostgresPrimary:
    """One connection, made at the first call and again after each failure."""

    def __init__(self, url: str, patience: Patience) -> None:
        self._url = url.replace("postgresql+psycopg:", "postgresql:")
        try:
            conninfo_to_dict(self._url)
        except psycopg.ProgrammingError:
            # Not in psycopg's words: they quote the address, which may hold a password.
            raise SettingInvalid(
                "the address of the primary cannot be read", "postgresql://user:password@host:5432/name, signs as %XX"
            ) from None
        self._patience = patience
        self._db: psycopg.Connection[Row] | None = None

    def script(self, sql: str) -> None:
        self.apply([(statement, ()) for statement in statements(sql, POSTGRES)])

    def apply(self, wanted: Sequence[Statement]) -> None:
        """Run statements as one; those that are alike go out together, without waiting for each answer."""
        with self._connected() as database, database.transaction(), database.cursor() as cursor:
            cursor.execute(_LOCK, (NAMES,))
            for sql, alike in groupby(wanted, key=lambda one: one[0]):
                cursor.executemany(for_psycopg(sql).encode(), [tuple(map(kept, values)) for _, values in alike])

    def read(self, sql: str, *values: object) -> list[Row]:
        with self._connected() as database:
            return database.execute(for_psycopg(sql).encode(), tuple(map(kept, values))).fetchall()

    def close(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
            self._db = None

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Row]]:
        try:
            if self._db is None or self._db.closed:
                self._db = _connect(self._url, self._patience)
            with within(self._patience.answer_s, self._db.fileno()):
                yield self._db
        except (psycopg.Error, TimeoutError) as error:
            self.close()
            raise _ours(error) from error
        except BaseException:
            self.close()
            raise


def _connect(url: str, patience: Patience) -> psycopg.Connection[Row]:
    connection: psycopg.Connection[Any] = psycopg.connect(
        url,
        autocommit=True,
        prepare_threshold=None,  # a pooler in between may give the next statement to another session
        connect_timeout=max(2, round(patience.connect_s)),
        application_name="milepost memory",
    )
    with within(patience.answer_s, connection.fileno()):
        # A server goes on with what nobody waits for any more, unless it is told not to.
        connection.execute(f"set statement_timeout = {round(patience.answer_s * 1000)}".encode())
        connection.execute(f"set idle_in_transaction_session_timeout = {round(patience.answer_s * 1000)}".encode())
    return connection


def _ours(error: Exception) -> MilepostError:
    said = " ".join(str(error).split())[:300]
    if isinstance(error, _OF_A_VALUE):
        return ValueRefused(f"the primary cannot store a value: {said}", "")
    if isinstance(error, (*_AWAY, TimeoutError)):
        return DatabaseAway(f"the primary does not answer: {said}", "make sure that it runs and can be reached")
    return DatabaseRefuses(f"the primary refuses: {said}", "check its log")
