"""The primary: where the memories of several machines, people or projects come together."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from milepost.core.errors import DatabaseRefuses, SettingInvalid
from milepost.memory.store.schema import SCHEMA, VERSION
from milepost.store.connection_timeout import PATIENCE, Patience
from milepost.store.database import is_server
from milepost.store.libsql import SCHEMES, LibsqlServer
from milepost.store.rows import Row, Statement

# By this name a primary is known again, wherever it has moved; another one at its old address is another one.
NAMED = """
    create table if not exists memory_primary (one bigint primary key, id text not null, at double precision not null);
"""
_NAME = "insert into memory_primary (one, id, at) values (1, ?, ?) on conflict (one) do nothing"
_VERSION = "insert into memory_versions (version, at) values (?, ?) on conflict (version) do nothing"


class Primary(Protocol):
    """Keeps the rows of many; used by one thread at a time.

    Each call ends within a few seconds: DatabaseAway when nobody answers, DatabaseRefuses when somebody does and will
    not. `apply` runs statements as one, all or none, while nobody else does, and they come to the same when run twice.
    """

    def script(self, sql: str) -> None: ...
    def apply(self, wanted: Sequence[Statement]) -> None: ...
    def read(self, sql: str, *values: object) -> list[Row]: ...
    def close(self) -> None: ...


def open_primary(place: str, token: str = "", patience: Patience = PATIENCE) -> Primary:
    """The primary at an address or in a file; nothing is connected before the first call."""
    if is_server(place):
        from milepost.memory.sync.primary_on_postgres import PostgresPrimary

        return PostgresPrimary(place, patience)
    scheme = place.partition("://")[0] if "://" in place else ""
    if scheme in SCHEMES:
        return LibsqlServer(place, token, patience)
    if scheme or not place.strip():
        raise SettingInvalid(
            f"there is no primary of the kind {scheme!r}", "libsql://…, https://…, postgresql://… or the path of a file"
        )
    from milepost.memory.sync.primary_in_file import FilePrimary

    return FilePrimary(Path(place).expanduser())


def prepare(primary: Primary) -> str:
    """Make what is missing of the tables; gives the name that this primary goes by for good."""
    versions = _there(primary, "select max(version) from memory_versions")
    names = _there(primary, "select id from memory_primary")
    newest = int(versions[0][0] or 0) if versions else 0
    if newest > VERSION:
        raise DatabaseRefuses(f"the primary has version {newest}, this program {VERSION}", "upgrade Milepost")
    if newest < VERSION or not names:
        primary.script(SCHEMA + NAMED)
        at = time.time()
        primary.apply([(_NAME, (uuid.uuid4().hex, at)), (_VERSION, (VERSION, at))])
        names = primary.read("select id from memory_primary")
    return str(names[0][0])


def _there(primary: Primary, sql: str) -> list[Row]:
    """What is there already; nothing where there is no such table. What refuses us for good will say so later."""
    try:
        return primary.read(sql)
    except DatabaseRefuses:
        return []
