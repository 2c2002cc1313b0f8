"""The outbox: rows that the primary has not been told yet, in the order in which they are told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from milepost.memory.store.schema import KEYS
from milepost.memory.sync.sync_state import REFUSED, Notes, as_id
from milepost.memory.sync.tables import COLUMNS, IN_ORDER, Line, as_line, key_of
from milepost.store.database import Database

PORTION = 100  # rows that are put into the outbox at once: whoever writes waits no longer than for these


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A row that waits, by its number in the outbox."""

    number: int
    table: str
    row: Line


class Outbox:
    """Rows get into it with the transaction that adds them; those from before there was a primary, bit by bit."""

    def __init__(self, database: Database, notes: Notes) -> None:
        self._db = database
        self._notes = notes

    def oldest(self, most: int, largest: int) -> list[OutboxRow]:
        """The oldest rows that wait, at most so many, and of so many signs together unless one alone has more."""
        while self._length() < most and self._put_out():
            pass
        sizes = self._db.read("select number, length(body) from memory_outbox order by number limit ?", most)
        last, total = 0, 0
        for number, size in sizes:
            total += size
            if last and total > largest:
                break
            last = number
        sql = "select number, name, body from memory_outbox where number <= ? order by number limit ?"
        return [
            OutboxRow(number=number, table=table, row=json.loads(body))
            for number, table, body in self._db.read(sql, last, most)
        ]

    def drop(self, told: Sequence[OutboxRow]) -> None:
        """These wait no longer."""
        signs = ", ".join("?" * len(told))
        numbers = [one.number for one in told]
        self._db.write(f"delete from memory_outbox where number in ({signs})", *numbers)  # noqa: S608 - only signs

    def set_aside(self, one: OutboxRow, why: str, at: float) -> None:
        """Keep a row aside that the primary cannot keep, so that others need not wait for it."""

        def change() -> None:
            name, body = as_id(key_of(one.table, one.row)), json.dumps(one.row)
            self._db.write(REFUSED, one.table, name, "there", why, body, at)
            self.drop([one])

        self._db.together("memory", change)

    def count(self) -> int:
        """How many rows the primary has not been told; all of them, before it was ever reached."""
        if not self._notes.text("primary"):
            return sum(self._rows(table, 0, 2**62) for table in KEYS)
        return self._length() + sum(self._rows(table, *self._untold(table)) for table in KEYS)

    def oldest_at(self) -> float | None:
        """When the row was noted that waits the longest."""
        found = self._db.read("select body from memory_outbox order by number limit 1")
        return float(json.loads(found[0][0])["at"]) if found else None

    def _put_out(self) -> bool:
        """Put some of the rows that were here before into the outbox; False when there are none any more."""
        return self._db.together("memory", lambda: any(self._put_out_of(table) for table in IN_ORDER))

    def _put_out_of(self, table: str) -> bool:
        after, until = self._untold(table)
        if after >= until:
            return False
        names = ", ".join(COLUMNS[table])
        sql = f"select rowid, {names} from {table} where rowid > ? and rowid <= ? order by rowid limit ?"  # noqa: S608
        found = self._db.read(sql, after, until, PORTION)
        for _, *values in found:
            body = json.dumps(as_line(table, tuple(values)), sort_keys=True)
            self._db.write("insert into memory_outbox (name, body) values (?, ?)", table, body)
        self._notes.put(f"untold {table}", json.dumps([found[-1][0] if found else until, until]))
        return True

    def _untold(self, table: str) -> tuple[int, int]:
        after, until = json.loads(self._notes.text(f"untold {table}") or "[0, 0]")
        return int(after), int(until)

    def _rows(self, table: str, after: int, until: int) -> int:
        sql = f"select count(*) from {table} where rowid > ? and rowid <= ?"  # noqa: S608 - our names
        return int(self._db.read(sql, after, until)[0][0]) if after < until else 0

    def _length(self) -> int:
        return int(self._db.read("select count(*) from memory_outbox")[0][0])
