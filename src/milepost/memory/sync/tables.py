"""The tables of a memory as a synchroniser sees them: their columns, and the statements that bring rows over."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from milepost.memory.store.rows import guarded_insertion
from milepost.memory.store.schema import KEYS, SCHEMA
from milepost.memory.transfer.forgotten_rows import deletions
from milepost.store.dialect import LONGEST_KEY
from milepost.store.rows import Row, Statement

Line = Mapping[str, Any]

FORGOTTEN = "memory_forgotten"
# What was forgotten comes first: rows that may not come back are not asked for.
IN_ORDER = (FORGOTTEN, *(table for table in KEYS if table != FORGOTTEN))

_TABLE = re.compile(r"create table if not exists (\w+) \((.*?)\);", re.DOTALL)
_COLUMN = re.compile(r"(\w+) (text|bigint|double precision) (?:not null|primary key)")

# Of each table, its columns with their types, without rowid.
COLUMNS: dict[str, dict[str, str]] = {
    table: dict(_COLUMN.findall(body)) for table, body in _TABLE.findall(SCHEMA) if table in KEYS
}


def key_of(table: str, row: Line) -> tuple[Any, ...]:
    """Which row it is."""
    return tuple(row[name] for name in KEYS[table])


def as_line(table: str, values: Row) -> Line:
    """A row with the names of its columns."""
    return dict(zip(COLUMNS[table], values, strict=True))


def additions(table: str, row: Line) -> tuple[Statement, ...]:
    """What adds a row where it is missing and was not forgotten; one that says so takes away what it is about."""
    added = guarded_insertion(table, {name: row[name] for name in COLUMNS[table]})
    return (*deletions(row["kind"], row["id"]), added) if table == FORGOTTEN else (added,)


def glance(table: str) -> str:
    """Asks which rows come after one: rowid, key, digest, and how long its texts are; for nothing long itself."""
    texts = [name for name, kind in COLUMNS[table].items() if kind == "text"]
    names = ", ".join(_beginning(name) if name in texts else name for name in (*KEYS[table], "digest"))
    size = " + ".join(f"coalesce(length({name}), 0)" for name in texts)
    return f"select rowid, {names}, {size} from {table} where rowid > ? order by rowid limit ?"  # noqa: S608


def _beginning(column: str) -> str:
    """A text, with one sign more than it may have where it is too long."""
    return f"substr({column}, 1, {LONGEST_KEY + 1})"


def whole_rows(table: str, rowids: Sequence[int]) -> Statement:
    """Asks for rows, whole, by their rowids."""
    signs = ", ".join("?" * len(rowids))
    sql = f"select {', '.join(COLUMNS[table])} from {table} where rowid in ({signs}) order by rowid"  # noqa: S608
    return sql, tuple(rowids)


def by_key(table: str, keys: Sequence[tuple[Any, ...]], names: Sequence[str]) -> Statement:
    """Asks for columns of those rows that are there, by their keys."""
    each = f"({', '.join('?' * len(KEYS[table]))})"
    wanted = f"({', '.join(KEYS[table])}) in (values {', '.join([each] * len(keys))})"
    sql = f"select {', '.join(names)} from {table} where {wanted}"  # noqa: S608 - our names
    return sql, tuple(part for key in keys for part in key)
