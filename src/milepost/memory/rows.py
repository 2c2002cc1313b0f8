"""Rows of the memory as they are added: once, with a digest, and noted for the primary in the same transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from milepost.memory.schema import KEYS, OUTBOX, SCHEMA
from milepost.store.database import Database, Row
from milepost.store.dialect import kept

T = TypeVar("T")
Values = Mapping[str, str | int | float]


class Rows:
    """The tables of a memory. With `shared` each row that is added waits in the outbox for the primary."""

    def __init__(self, database: Database, *, shared: bool = False) -> None:
        self.database = database
        self._shared = shared
        database.script(SCHEMA)
        if shared:
            database.script(OUTBOX)

    def add(self, table: str, values: Values) -> bool:
        """Add a row; False when there is one of its key already. Use it inside of `together`."""
        whole = {**values, "digest": digest_of(values)}
        added = self.database.write(insertion(table, tuple(whole)), *whole.values()) == 1
        if added and self._shared:
            body = json.dumps(whole, sort_keys=True)
            self.database.write("insert into memory_outbox (name, body) values (?, ?)", table, body)
        return added

    def together(self, act: Callable[[], T]) -> T:
        """What comes of several rows that are added as one, or not at all; run again when the server went away."""
        return self.database.together("memory", act)

    def read(self, sql: str, *values: object) -> list[Row]:
        return self.database.read(sql, *values)


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


def _as_kept(value: object) -> object:
    return float(value) + 0.0 if isinstance(value, int | float) else kept(value)
