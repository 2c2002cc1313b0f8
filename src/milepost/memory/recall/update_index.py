"""Brings the index up to date with the memory, by the rows that were added since; whatever the memory is kept in.

Rows are added and never changed, so all that is new lies behind a *mark*, the last row that was read. A memory whose
row at the mark is another one is not the memory that the index was made of: then all is read again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from milepost.core.memories import EpisodeStart, Lesson
from milepost.memory.recall.index_rows import Entries, IndexedDocument
from milepost.memory.store.as_json import load
from milepost.memory.store.columns import EndedEpisode
from milepost.memory.store.lessons import STANDING_LAST
from milepost.memory.store.rows import Rows
from milepost.store.rows import Row

BATCH = 200
LONGEST_TEXT = 4_000
LONGEST_REASON = 500

# Of each table: the column that says which row it is.
_SOURCES = {"memory_forgotten": "id", "memory_endings": "episode", "memory_lessons": "id", "memory_states": "lesson"}

_ENDED = """
    select ends.rowid, starts.body, ends.body from memory_endings as ends
    join memory_episodes as starts on starts.id = ends.episode where ends.rowid > ? and ends.rowid <= ?
"""


def catch_up(entries: Entries, rows: Rows) -> None:
    """Read what was added to the memory, forgotten in it, or has changed state."""
    for source, read in _READERS.items():
        while True:
            mark = entries.mark(source)
            fresh = _beyond(rows, source, mark)
            if fresh is None:
                _begin_again(entries, rows)
                return
            if not fresh:
                break
            change = read(rows, mark[0], fresh)
            with _whole(entries.db):
                if entries.mark(source) == mark:  # else another process was faster
                    change(entries)
                    entries.set_mark(source, *fresh[-1])


def rebuild(entries: Entries, rows: Rows) -> None:
    """Read all of the memory again."""
    with _whole(entries.db):
        entries.clear()
    catch_up(entries, rows)


def _begin_again(entries: Entries, rows: Rows) -> None:
    """The row at a mark is gone: something was forgotten this moment, or it is another memory."""
    if _beyond(rows, "memory_forgotten", entries.mark("memory_forgotten")):
        catch_up(entries, rows)
    else:
        rebuild(entries, rows)


def _beyond(rows: Rows, source: str, mark: tuple[int, str]) -> list[tuple[int, str]] | None:
    """The rows behind a mark; None where the mark is not what it was."""
    sql = f"select rowid, {_SOURCES[source]} from {source} where rowid >= ? order by rowid limit ?"  # noqa: S608 - our names
    found = [(int(row), str(name)) for row, name in rows.read(sql, mark[0], 2)]
    if not mark[0]:
        return found and [(int(row), str(name)) for row, name in rows.read(sql, 0, BATCH)]
    if found[:1] != [mark]:
        return None
    return found[1:] and [(int(row), str(name)) for row, name in rows.read(sql, mark[0] + 1, BATCH)]


Change = Callable[[Entries], None]
Reader = Callable[[Rows, int, Sequence[tuple[int, str]]], Change]


def _forgotten(rows: Rows, after: int, fresh: Sequence[tuple[int, str]]) -> Change:
    def change(entries: Entries) -> None:
        for _, name in fresh:
            entries.remove(name)
        # What is added next may get the row of what was the last one.
        entries.set_mark("memory_endings", *entries.newest("episode"))
        entries.set_mark("memory_lessons", *entries.newest("lesson"))
        entries.set_mark("memory_states", 0, "")

    return change


def _episodes(rows: Rows, after: int, fresh: Sequence[tuple[int, str]]) -> Change:
    errors = _errors(rows, [name for _, name in fresh])
    documents = [_episode(row, errors) for row in rows.read(_ENDED, after, fresh[-1][0])]
    return lambda entries: _add(entries, documents)


def _lessons(rows: Rows, after: int, fresh: Sequence[tuple[int, str]]) -> Change:
    states = _states_of(rows, [name for _, name in fresh])
    sql = "select rowid, body from memory_lessons where rowid > ? and rowid <= ?"
    documents = [_lesson(row, states) for row in rows.read(sql, after, fresh[-1][0])]
    return lambda entries: _add(entries, documents)


def _states(rows: Rows, after: int, fresh: Sequence[tuple[int, str]]) -> Change:
    states = _states_of(rows, sorted({name for _, name in fresh}))

    def change(entries: Entries) -> None:
        for lesson, state in states.items():
            entries.restate(lesson, state)

    return change


_READERS: dict[str, Reader] = {
    "memory_forgotten": _forgotten,
    "memory_endings": _episodes,
    "memory_lessons": _lessons,
    "memory_states": _states,
}


def _add(entries: Entries, documents: Sequence[IndexedDocument | None]) -> None:
    for document in documents:
        if document is not None:
            entries.add(document)


def _episode(row: Row, errors: dict[str, list[str]]) -> IndexedDocument | None:
    number, start_body, end_body = row
    try:
        start, end = load(EpisodeStart, start_body), load(EndedEpisode, end_body).end
    except ValidationError:  # written by another version: it is not found, and all others are
        return None
    known = tuple(dict.fromkeys((*end.signatures, *errors.get(start.id, ()))))
    return IndexedDocument(
        kind="episode",
        id=start.id,
        project=start.project,
        row=number,
        at=end.ended_at,
        outcome=end.verdict.value if end.verdict else end.kind,
        title=start.title,
        body=start.text[:LONGEST_TEXT],
        names=" ".join(dict.fromkeys((*start.files, *end.changed))),
        errors="\n".join((*known, end.reason[:LONGEST_REASON])),
        signatures=known,
        task=start.task,
    )


def _lesson(row: Row, states: dict[str, str]) -> IndexedDocument | None:
    number, body = row
    try:
        lesson = load(Lesson, body)
    except ValidationError:
        return None
    return IndexedDocument(
        kind="lesson",
        id=lesson.id,
        project=lesson.project,
        row=number,
        at=lesson.made_at,
        outcome=states.get(lesson.id, "candidate"),
        title=lesson.subject,
        body=lesson.text,
        names=" ".join(lesson.symbols),
        errors=lesson.signature,
        signatures=tuple(lesson.signature.splitlines()),
        sort=lesson.kind,
        subject=lesson.subject,
        scope=lesson.scope,
        task=lesson.task,
        terms=" ".join(lesson.terms) or lesson.text,
    )


def _errors(rows: Rows, episodes: Sequence[str]) -> dict[str, list[str]]:
    """The signatures of the steps of episodes."""
    signs = ", ".join("?" * len(episodes))
    sql = f"select distinct episode, signature from memory_steps where episode in ({signs}) and signature <> ''"  # noqa: S608 - only signs
    found: dict[str, list[str]] = {}
    for episode, signature in rows.read(sql, *episodes):
        found.setdefault(episode, []).append(signature)
    return found


def _states_of(rows: Rows, lessons: Sequence[str]) -> dict[str, str]:
    signs = ", ".join("?" * len(lessons))
    sql = f"select lesson, state from memory_states where lesson in ({signs}) order by {STANDING_LAST}"  # noqa: S608 - only signs
    return {str(lesson): str(state) for lesson, state in rows.read(sql, *lessons)}


@contextmanager
def _whole(db: sqlite3.Connection) -> Iterator[None]:
    """A block that counts as one, while no other process writes."""
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        db.execute("rollback")
        raise
    db.execute("commit")
