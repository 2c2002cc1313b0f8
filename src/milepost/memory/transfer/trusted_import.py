"""What was taken in without trust and comes again in a file that is trusted: it takes the place of its copy."""

from __future__ import annotations

import time

from milepost.core.memories import BY_HAND, Lesson
from milepost.memory.store.as_json import load
from milepost.memory.store.rows import Rows
from milepost.memory.sync.tables import Line
from milepost.memory.transfer.imported_names import imported_lesson, imported_name

# The reason of a row of `memory_forgotten` that forgets no more than a name: what had it is kept under its own.
REPLACED = "it came again in a trusted file, under its own name"
KINDS = {"memory_episodes": "episode", "memory_lessons": "lesson"}

_BY_HAND = "select number, state, why, at from memory_states where lesson = ? and substr(why, 1, ?) = ? order by rowid"


def replace_copy(rows: Rows, table: str, row: Line) -> bool:
    """Take away the copy of a trusted episode or lesson that is kept here; False where there is none.

    What a person said of the copy is said of the trusted one. Use it inside `together`.
    """
    kind = KINDS.get(table)
    if kind is None or (copy := copy_of(table, row)) == row["id"]:
        return False
    if not rows.read(f"select 1 from {table} where id = ?", copy):  # noqa: S608 - our names
        return False
    for number, state, why, at in rows.read(_BY_HAND, copy, len(BY_HAND), BY_HAND) if kind == "lesson" else ():
        rows.add("memory_states", {"lesson": row["id"], "number": number, "state": state, "why": why, "at": at})
    rows.add("memory_forgotten", {"kind": kind, "id": copy, "why": REPLACED, "at": time.time()})
    return True


def copy_of(table: str, row: Line) -> str:
    """What an episode or a lesson is called where it was taken in without trust."""
    return imported_name(row["id"]) if table == "memory_episodes" else imported_lesson(load(Lesson, row["body"]))
