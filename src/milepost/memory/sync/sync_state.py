"""What a memory keeps about its primary: which it is, how far it was read, and what went wrong with it."""

from __future__ import annotations

import json
from typing import Any

from milepost.memory.store.schema import KEYS, OUTBOX, SCHEMA
from milepost.store.database import Database

NOTES = """
    create table if not exists memory_sync (name text primary key, body text not null);
    create table if not exists memory_diverged (
        name text not null, id text not null, here text not null, there text not null, at double precision not null,
        primary key (name, id));
    create table if not exists memory_refused (
        name text not null, id text not null, by_whom text not null, why text not null, body text not null,
        at double precision not null, primary key (name, id, by_whom));
"""

REFUSED = """
    insert into memory_refused (name, id, by_whom, why, body, at) values (?, ?, ?, ?, ?, ?)
    on conflict (name, id, by_whom) do nothing
"""
_SET = "insert into memory_sync (name, body) values (?, ?) on conflict (name) do update set body = excluded.body"
_DIVERGED = """
    insert into memory_diverged (name, id, here, there, at) values (?, ?, ?, ?, ?) on conflict (name, id) do nothing
"""
MINUTE_S = 60.0


class Notes:
    """Keeps that in the memory's own database; each call is on disk when it returns."""

    def __init__(self, database: Database) -> None:
        self._db = database
        for script in (SCHEMA, OUTBOX, NOTES):
            database.script(script)

    def adopt(self, primary: str, shape: str) -> None:
        """Have this primary from now on. One that is new is to be told all that is here, and read from its start; so is
        one that missed something, since nobody shared the memory for a while.

        Rows of another `shape` may be let in by this version though an earlier one refused them: all is read again.
        """

        def change() -> None:
            missed = self._db.read("select 1 from memory_sync where name = 'missed'")
            if self.text("primary") != primary or missed:
                self._db.write("delete from memory_sync")
                self.put("primary", primary)
                self._db.write("delete from memory_outbox")  # first: what is added from now on waits there, too
                for table in KEYS:
                    newest = self._db.read(f"select coalesce(max(rowid), 0) from {table}")[0][0]  # noqa: S608
                    self.put(f"untold {table}", json.dumps([0, newest]))
            if self.text("shape") != shape:
                self.put("shape", shape)
                self.read_again(*KEYS)

        self._db.together("memory", change)

    def read_again(self, *tables: str) -> None:
        """Have these tables of the primary read from their start."""
        for table in tables:
            self.put(f"seen {table}", "0")

    def seen(self, table: str) -> int:
        """Up to which row the primary was read."""
        return int(self.text(f"seen {table}") or 0)

    def advance(self, table: str, before: int, now: int) -> bool:
        """Note how far the primary was read; False where somebody else has noted something since."""
        sql = "update memory_sync set body = ? where name = ? and body = ?"
        return self._db.write(sql, str(now), f"seen {table}", str(before)) == 1

    def refuse(self, table: str, key: tuple[Any, ...], why: str, at: float) -> None:
        """Note a row that was not let in."""
        self._db.write(REFUSED, table, as_id(key), "here", why, "", at)

    def diverge(self, table: str, key: tuple[Any, ...], digests: tuple[str, str], at: float) -> None:
        """Note a row that is otherwise here than there, by both digests; neither row is changed."""
        self._db.write(_DIVERGED, table, as_id(key), *digests, at)

    def failed(self, error: str, at: float) -> None:
        self.put("failure", json.dumps([error, at]))

    def succeeded(self, at: float) -> None:
        """It works. When it did is told to the minute, so that little is written."""
        if self.text("failure"):
            self._db.write("delete from memory_sync where name = 'failure'")
        if not 0 <= at - float(self.text("synced") or 0) < MINUTE_S:
            self.put("synced", str(at))

    def text(self, name: str) -> str:
        found = self._db.read("select body from memory_sync where name = ?", name)
        return str(found[0][0]) if found else ""

    def put(self, name: str, body: str) -> None:
        self._db.write(_SET, name, body)


def as_id(key: tuple[Any, ...]) -> str:
    """A key as it is noted: of a row that may be anybody's."""
    return json.dumps(key, default=str)[:1000]
