"""One database for many threads: SQLite in a file by default, PostgreSQL where several machines share a run.

Statements are written once, for both (`milepost.store.dialect`): `?` for values, `double precision` for times,
`bigint` for numbers without a bound, `on conflict` for what is kept once. Each is a transaction of its own
unless `together` or `alone` is used, and must come to the same when it is run twice.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from milepost.store.rows import Row

T = TypeVar("T")


class Database(Protocol):
    """Runs statements; may be used from several threads.

    `together` gives what comes of several statements that count as one, while nobody else, on any machine, runs
    such under this name; it is run again, whole, when the server went away in the middle. With `durable` it is on the
    disk itself when that returns, so that a power cut does not take it: threads that come with such while one is being
    committed share the next commit, and one of them runs what all came with. Inside of another it is as durable as
    that. `alone` is the same as `together`, as a block, which cannot be run again: then it fails.
    """

    def script(self, sql: str) -> None: ...
    def write(self, sql: str, *values: object) -> int: ...
    def read(self, sql: str, *values: object) -> list[Row]: ...
    def columns(self, table: str) -> frozenset[str]: ...
    def together(self, name: str, act: Callable[[], T], *, durable: bool = False) -> T: ...
    def alone(self, name: str) -> AbstractContextManager[None]: ...
    def vacuum(self) -> None: ...
    def close(self) -> None: ...


def is_server(place: Path | str) -> bool:
    """Whether a place is the address of a database server, not a file."""
    return str(place).startswith(("postgresql:", "postgres:", "postgresql+psycopg:"))


def open_database(place: Path | str, *, away_s: float | None = None) -> Database:
    """The database in a file, or at the address of a server, which may be away so long before that is an error."""
    if is_server(place):
        from milepost.store.postgres import ServerDatabase

        return ServerDatabase(str(place)) if away_s is None else ServerDatabase(str(place), away_s)
    from milepost.store.sqlite import FileDatabase

    return FileDatabase(Path(place))
