"""Rows of the memory as they are added: once, with a digest, and noted for the primary in the same transaction."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from milepost.memory.store.migrations import require_known
from milepost.memory.store.schema import KEYS, NAMING, OUTBOX, REALS, SCHEMA
from milepost.memory.transfer.forgotten_rows import take_away
from milepost.store.database import Database
from milepost.store.dialect import kept
from milepost.store.rows import Row, Statement

T = TypeVar("T")
Values = Mapping[str, str | int | float]

TOGETHER = "memory"  # the name under which all that adds rows takes turns, on any machine
_FORGOTTEN = "memory_forgotten"
# A primary that is named again later was not told of this row: then all is told again.
_MISSED = "insert into memory_sync (name, body) values ('missed', '') on conflict (name) do nothing"
_ORPHANS = """
    select lesson from memory_supports as ours where episode = ? and not exists (
        select 1 from memory_supports as others where others.lesson = ours.lesson and others.episode <> ours.episode)
"""


class Rows:
    """The tables of a memory. With `shared` each row that is added waits in the outbox for the primary."""

    def __init__(self, database: Database, *, shared: bool = False) -> None:
        self.database = database
        self._shared = shared
        require_known(database)
        database.script(SCHEMA)
        self._had_primary = not shared and bool(database.columns("memory_sync"))
        if shared:
            database.script(OUTBOX)

    def add(self, table: str, values: Values) -> bool:
        """Add a row; False when there is one of its key, or what it is about was forgotten. Use it inside `together`.

        With a row of `memory_forgotten` all rows about what it names go, and the lessons that grew from nothing else.
        """
        whole = row_of(values)
        sql, marks = guarded_insertion(table, whole)
        added = self.database.write(sql, *marks) == 1
        if added and table == _FORGOTTEN:
            self._remove(str(whole["kind"]), str(whole["id"]), str(whole["why"]))
        if added and self._shared:
            body = json.dumps(whole, sort_keys=True)
            self.database.write("insert into memory_outbox (name, body) values (?, ?)", table, body)
        elif added and self._had_primary:
            self.database.write(_MISSED)
        return added

    def together(self, act: Callable[[], T]) -> T:
        """What comes of several rows that are added as one, or not at all: on the disk itself when this returns.

        Run again when the server went away. Who comes with more meanwhile shares the next commit.
        """
        return self.database.together(TOGETHER, act, durable=True)

    def read(self, sql: str, *values: object) -> list[Row]:
        return self.database.read(sql, *values)

    def after(self, table: str, rowid: int, *columns: str, most: int = 1_000) -> list[Row]:
        """The rows that were added to a table after one, oldest first: each its rowid and some of its columns.

        None is missed by who remembers the last rowid: rows are added in turn, and no rowid is used again.
        """
        names = ", ".join(("rowid", *columns))
        sql = f"select {names} from {table} where rowid > ? order by rowid limit ?"  # noqa: S608 - our names
        return self.read(sql, rowid, most)

    def _remove(self, kind: str, name: str, why: str) -> None:
        """Take away all rows about an episode or a lesson, also those that the primary was not told yet."""
        orphans = [lesson for (lesson,) in self.read(_ORPHANS, name)] if kind == "episode" else []
        take_away(self.database, kind, name, shared=self._shared)
        for lesson in orphans:
            self.add(_FORGOTTEN, {"kind": "lesson", "id": lesson, "why": why, "at": time.time()})


def row_of(values: Values) -> dict[str, Any]:
    """A row as a database gives it back, with its digest."""
    known = {name: float(value) if name in REALS else kept(value) for name, value in values.items() if name != "digest"}
    return {**known, "digest": digest_of(known)}


def insertion(table: str, columns: tuple[str, ...]) -> str:
    """The statement that adds a row, and does nothing where there is one of its key."""
    names, signs, key = ", ".join(columns), ", ".join("?" * len(columns)), ", ".join(KEYS[table])
    return f"insert into {table} ({names}) values ({signs}) on conflict ({key}) do nothing"  # noqa: S608 - our names


def digest_of(values: Mapping[str, Any]) -> str:
    """The same for the same row, wherever it is kept: by it two that differ under one key are told apart.

    So it is that of the values as databases keep them: 7 may come back as 7.0, a NUL written out.
    """
    known = {name: _as_kept(value) for name, value in values.items() if name not in ("digest", "rowid")}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def guarded_insertion(table: str, row: Mapping[str, Any]) -> Statement:
    """The same for a row that is not added either where one of the things that it names was forgotten."""
    columns, values = tuple(row), tuple(row.values())
    if not (naming := NAMING.get(table)):
        return insertion(table, columns), values
    names, signs, key = ", ".join(columns), ", ".join("?" * len(columns)), ", ".join(KEYS[table])
    forgotten = " or ".join(["kind = ? and id = ?"] * len(naming))
    return (
        f"insert into {table} ({names}) select {signs} "  # noqa: S608 - our names
        f"where not exists (select 1 from {_FORGOTTEN} where {forgotten}) on conflict ({key}) do nothing",
        (*values, *(text for column, kind in naming.items() for text in (kind, row[column]))),
    )


def _as_kept(value: object) -> object:
    return float(value) + 0.0 if isinstance(value, int | float) else kept(value)
