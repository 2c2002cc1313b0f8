"""The ledger of patches: every one that was proposed, what became of it and why."""

from __future__ import annotations

import json

from milepost.repair.patches.apply import FileState, Touched
from milepost.repair.patches.patch import IllegalMove, Patch, PatchState, PatchStep, advance
from milepost.store.database import Database
from milepost.store.rows import Row

_SCHEMA = """
    create table if not exists patches (
        {rowid}
        id text primary key,
        run text not null,
        task text not null,
        attempt bigint not null,
        source text not null,
        diff {bytes} not null,
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
        {rowid}
        patch text not null references patches (id),
        path {bytes} not null,
        before {bytes},
        before_mode integer,
        after {bytes},
        after_mode integer
    );
    create index if not exists patch_files_by_patch on patch_files (patch);
"""

_KEEP = """
    insert into patches (id, run, task, attempt, source, diff, paths) values (?, ?, ?, ?, ?, ?, ?)
    on conflict do nothing
"""
_MOVE = "insert into patch_moves (patch, position, state, reason) values (?, ?, ?, ?) on conflict do nothing"
_MOVES = "select state, reason from patch_moves where patch = ? order by position"
_TOUCH = """
    insert into patch_files (patch, path, before, before_mode, after, after_mode) values (?, ?, ?, ?, ?, ?)
"""
_TOUCHED = "select path, before, before_mode, after, after_mode from patch_files where patch = ? order by rowid"
_COLUMNS = "select id, run, task, attempt, source, diff, paths from patches"


class PatchLedger:
    """Keeps patches; a call made twice changes nothing."""

    def __init__(self, database: Database) -> None:
        self._db = database
        database.script(_SCHEMA)

    def keep(self, patch: Patch, touched: tuple[Touched, ...] = ()) -> Patch:
        """Kept when this returns, its whole history with it; raises IllegalMove when another one is kept already."""

        def put() -> None:
            self._db.write(_KEEP, *_row(patch))
            for position, move in enumerate(patch.history):
                self._db.write(_MOVE, patch.id, position, move.to, move.reason)
            states = [str(state) for state, _ in self._db.read(_MOVES, patch.id)]
            if states[: len(patch.history)] != [move.to for move in patch.history]:
                raise IllegalMove(f"patch {patch.id} is already recorded as {states[-1]!r}")
            for one in touched:
                self._db.write("delete from patch_files where patch = ? and path = ?", patch.id, _bytes(one.path))
                self._db.write(_TOUCH, *_touch_row(patch.id, one))

        self._db.together(f"patch {patch.id}", put)
        return patch

    def move(self, patch: Patch, to: PatchState, reason: str = "", touched: tuple[Touched, ...] = ()) -> Patch:
        """The patch one step further, kept."""
        return self.keep(advance(patch, to, reason), touched)

    def patch(self, patch_id: str) -> Patch | None:
        rows = self._db.read(f"{_COLUMNS} where id = ?", patch_id)
        return self._patch(rows[0]) if rows else None

    def of_task(self, run: str, task: str) -> tuple[Patch, ...]:
        """The patches of a task in the order they were proposed."""
        rows = self._db.read(f"{_COLUMNS} where run = ? and task = ? order by rowid", run, task)
        return tuple(map(self._patch, rows))

    def touched(self, patch_id: str) -> tuple[Touched, ...]:
        """What an applied patch changed, bytes and all."""
        return tuple(
            Touched(path=_text(path), before=_state(before, was), after=_state(after, became))
            for path, before, was, after, became in self._db.read(_TOUCHED, patch_id)
        )

    def _patch(self, row: Row) -> Patch:
        patch_id, run, task, attempt, source, diff, paths = row
        return Patch(
            id=patch_id,
            run=run,
            task=task,
            attempt=attempt,
            source=source,
            diff=_text(diff),
            paths=tuple(json.loads(paths)),
            history=tuple(PatchStep(to=state, reason=reason) for state, reason in self._db.read(_MOVES, patch_id)),
        )


def _row(patch: Patch) -> Row:
    paths = json.dumps(patch.paths)
    return (patch.id, patch.run, patch.task, patch.attempt, patch.source, _bytes(patch.diff), paths)


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


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
