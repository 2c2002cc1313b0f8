"""Of the rows of a file those that may come in: what was forgotten here stays away, and our own is nothing new."""

from __future__ import annotations

from typing import Literal

from milepost.core.memories import Lesson
from milepost.memory.lessons.distil.make_lesson import ids_of
from milepost.memory.lessons.suspicious_lessons import objection
from milepost.memory.store.as_json import load
from milepost.memory.store.rows import Rows
from milepost.memory.store.schema import KEYS, NAMING
from milepost.memory.sync.tables import Line
from milepost.memory.transfer.imported_names import IMPORT, imported_name
from milepost.memory.transfer.trusted_import import KINDS, REPLACED, copy_of

# What others measured or decided counts for nothing here.
OTHERS_OPINIONS = ("memory_supports", "memory_states", "memory_showings", "memory_votes", "memory_forgotten")

Sifted = Literal["news", "known", "forgotten", "about forgotten", "for trust"]


class Sieve:
    """Tells of the rows of one file, in their order, which are news here. The same thing is known by all its names."""

    def __init__(self, rows: Rows, *, trusted: bool) -> None:
        self._rows = rows
        self._trusted = trusted
        gone = rows.read("select kind, id from memory_forgotten where why <> ?", REPLACED)
        self._forgotten = {(kind, known_as) for kind, name in gone for known_as in (name, imported_name(name))}
        ours = rows.read("select id from memory_episodes where owner <> ?", IMPORT)
        self._ours_elsewhere = frozenset(imported_name(name) for (name,) in ours)
        self._decided: dict[tuple[str, str], Sifted] = {}

    def sift(self, table: str, row: Line) -> Sifted:
        """What a row is here: rows about something share its fate, so that nothing comes without what it belongs to."""
        fates = {self._decided.get((kind, row[name])) for name, kind in NAMING.get(table, {}).items()}
        if "about forgotten" in fates:
            return "about forgotten"
        if "known" in fates and (self._trusted or table not in OTHERS_OPINIONS):
            return "known"
        kind = KINDS.get(table)
        if kind is not None and any((kind, name) in self._forgotten for name in _names(table, row)):
            self._decided[kind, row["id"]] = "about forgotten"
            return "forgotten"
        if kind is not None and (self._is_copy(table, row) if self._trusted else self._is_ours(table, row)):
            self._decided[kind, row["id"]] = "known"
            return "known"
        if self._trusted:
            return "news"
        if digest_here(self._rows, table, row) == row["digest"]:
            return "known"
        return "for trust" if table in OTHERS_OPINIONS or _is_empty(table, row) else "news"

    def _is_ours(self, table: str, row: Line) -> bool:
        """Whether this is what happened or was learnt here, under whatever name it comes."""
        if table == "memory_lessons":
            return any(_is_kept(self._rows, name) for name in _names(table, row)[1:])
        ours = row["owner"] != IMPORT and digest_here(self._rows, table, row) == row["digest"]
        return ours or row["id"] in self._ours_elsewhere

    def _is_copy(self, table: str, row: Line) -> bool:
        """Whether this was once taken in without trust, somewhere, of what is here under its own name."""
        if table == "memory_episodes":
            return row["id"] in self._ours_elsewhere
        return row["id"] == copy_of(table, row) and is_said(self._rows, load(Lesson, row["body"]))


def is_said(rows: Rows, lesson: Lesson) -> bool:
    """Whether another lesson of this project here says the same."""
    sql = "select id, body from memory_lessons where project = ? and kind = ? and subject = ?"
    found = rows.read(sql, lesson.project, lesson.kind, lesson.subject)
    return any(name != lesson.id and load(Lesson, body).text == lesson.text for name, body in found)


def digest_here(rows: Rows, table: str, row: Line) -> str:
    """The digest of the row that is kept under this key; empty where there is none."""
    which = " and ".join(f"{name} = ?" for name in KEYS[table])
    kept = rows.read(f"select digest from {table} where {which}", *(row[name] for name in KEYS[table]))  # noqa: S608
    return str(kept[0][0]) if kept else ""


def _names(table: str, row: Line) -> tuple[str, ...]:
    """All that an episode or a lesson is called, here or where it was imported; its name in the file first."""
    if table == "memory_episodes":
        return row["id"], copy_of(table, row)
    lesson = load(Lesson, row["body"])
    # What is not worded as ours are was not learnt here: its text may be anything, and is not looked into.
    ours = () if objection(lesson) else ids_of(lesson)
    return row["id"], copy_of(table, row), *ours


def _is_kept(rows: Rows, lesson: str) -> bool:
    return bool(rows.read("select 1 from memory_lessons where id = ?", lesson))


def _is_empty(table: str, row: Line) -> bool:
    return table == "memory_lessons" and not load(Lesson, row["body"]).text
