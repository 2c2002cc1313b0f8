"""The ledger of patches: every one that was proposed, what became of it and why, kept in SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.repair.patches import IllegalMove, Move, Patch, PatchState, advance
from milepost.repair.patching import FileState, Touched

BUSY_TIMEOUT_S = 10.0

_SCHEMA = """
    create table if not exists patches (
        id text primary key,
        run text not null,
        task text not null,
        attempt integer not null,
        source text not null,
        diff blob not null,
        paths text not null
    );
    create index if not exists patches_by_task on patches (run, task);
    create table if not exists patch_moves (
        patch text not null references patches (id),
        position integer not null,
        state text not null,
        reason text not null,
        primary key (patch, position)
    );
    create table if not exists patch_files (
        patch text not null references patches (id),
        path blob not null,
        before blob,
        before_mode integer,
        after blob,
        after_mode integer,
        primary key (patch, path)
    );
"""

_KEEP = "insert or ignore into patches (id, run, task, attempt, source, diff, paths) values (?, ?, ?, ?, ?, ?, ?)"
_MOVE = "insert or ignore into patch_moves (patch, position, state, reason) values (?, ?, ?, ?)"
_MOVES = "select state, reason from patch_moves where patch = ? order by position"
_TOUCH = """
    insert or replace into patch_files (patch, path, before, before_mode, after, after_mode) values (?, ?, ?, ?, ?, ?)
"""
_TOUCHED = "select path, before, before_mode, after, after_mode from patch_files where patch = ? order by rowid"
_COLUMNS = "select id, run, task, attempt, source, diff, paths from patches"


class PatchLedger:
    """Keeps patches. Each call has its own connection, so any thread may call; a call made twice changes nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._connection() as connection:
            connection.execute("pragma journal_mode = wal")
            connection.executescript(_SCHEMA)

    def keep(self, patch: Patch, touched: tuple[Touched, ...] = ()) -> Patch:
        """On disk when this returns, its whole history with it; raises IllegalMove when another one is kept already."""
        with self._connection() as connection, connection:
            connection.execute("begin immediate")
            connection.execute(_KEEP, _row(patch))
            for position, move in enumerate(patch.history):
                connection.execute(_MOVE, (patch.id, position, move.to, _plain(move.reason)))
            kept = [str(state) for state, _ in connection.execute(_MOVES, (patch.id,))]
            if kept[: len(patch.history)] != [move.to for move in patch.history]:
                raise IllegalMove(f"patch {patch.id} is known to be {kept[-1]!r} by another way")
            connection.executemany(_TOUCH, [_touch_row(patch.id, one) for one in touched])
        return patch

    def move(self, patch: Patch, to: PatchState, reason: str = "", touched: tuple[Touched, ...] = ()) -> Patch:
        """The patch one step further, kept."""
        return self.keep(advance(patch, to, reason), touched)

    def patch(self, patch_id: str) -> Patch | None:
        with self._connection() as connection:
            row = connection.execute(f"{_COLUMNS} where id = ?", (patch_id,)).fetchone()
            return _patch(connection, row) if row else None

    def of_task(self, run: str, task: str) -> tuple[Patch, ...]:
        """The patches of a task in the order they were proposed."""
        with self._connection() as connection:
            rows = connection.execute(f"{_COLUMNS} where run = ? and task = ? order by rowid", (run, task)).fetchall()
            return tuple(_patch(connection, row) for row in rows)

    def touched(self, patch_id: str) -> tuple[Touched, ...]:
        """What an applied patch changed, bytes and all."""
        with self._connection() as connection:
            rows = connection.execute(_TOUCHED, (patch_id,)).fetchall()
        return tuple(
            Touched(path=_text(path), before=_state(before, was), after=_state(after, became))
            for path, before, was, after, became in rows
        )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S)) as connection:
                connection.execute("pragma synchronous = full")
                yield connection
        except sqlite3.Error as problem:
            raise StateUnwritable(
                f"the ledger {str(self._path)!r} cannot be used: {problem}",
                "see that the folder is writable and the disk not full; a damaged file may be deleted",
            ) from problem


Row = tuple[str, str, str, int, str, bytes, str]


def _row(patch: Patch) -> Row:
    paths = json.dumps(patch.paths)
    return (patch.id, patch.run, patch.task, patch.attempt, patch.source, _bytes(patch.diff), paths)


def _patch(connection: sqlite3.Connection, row: Row) -> Patch:
    patch_id, run, task, attempt, source, diff, paths = row
    moves = connection.execute(_MOVES, (patch_id,)).fetchall()
    return Patch(
        id=patch_id,
        run=run,
        task=task,
        attempt=attempt,
        source=source,
        diff=_text(diff),
        paths=tuple(json.loads(paths)),
        history=tuple(Move(to=state, reason=reason) for state, reason in moves),
    )


def _touch_row(patch_id: str, one: Touched) -> tuple[str, bytes, bytes | None, int | None, bytes | None, int | None]:
    before, after = one.before, one.after
    return (
        patch_id,
        _bytes(one.path),
        before.content if before else None,
        before.mode if before else None,
        after.content if after else None,
        after.mode if after else None,
    )


def _state(content: bytes | None, mode: int | None) -> FileState | None:
    return None if content is None or mode is None else FileState(content=content, mode=mode)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _plain(text: str) -> str:
    """Text that can be kept as such: bytes that are no text are written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
