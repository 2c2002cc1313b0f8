"""What goes away with what is forgotten: an episode or a lesson, and all rows about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

from milepost.memory.store.schema import NAMING
from milepost.store.database import Database
from milepost.store.rows import Statement

ForgottenKind = Literal["episode", "lesson"]
KINDS: tuple[ForgottenKind, ...] = get_args(ForgottenKind)


def deletions(kind: str, name: str) -> tuple[Statement, ...]:
    """The statements that take away all rows about an episode or a lesson."""
    return tuple(
        (f"delete from {table} where {column} = ?", (name,))  # noqa: S608 - our names
        for table, columns in NAMING.items()
        for column, named in columns.items()
        if named == kind
    )


def is_about(table: str, row: Mapping[str, Any], kind: str, name: str) -> bool:
    """Whether a row goes away when this is forgotten."""
    return any(named == kind and row.get(column) == name for column, named in NAMING.get(table, {}).items())


def take_away(database: Database, kind: str, name: str, *, shared: bool) -> None:
    """Take away all rows about an episode or a lesson, where it is shared those that wait for the primary, too."""
    for sql, values in deletions(kind, name):
        database.write(sql, *values)
    if not shared:
        return
    part = json.dumps(name)
    for sign in "\\%_":
        part = part.replace(sign, f"\\{sign}")
    sql = "select number, name, body from memory_outbox where body like ? escape '\\'"
    for number, table, body in database.read(sql, f"%{part}%"):
        if is_about(table, json.loads(body), kind, name):
            database.write("delete from memory_outbox where number = ?", number)
