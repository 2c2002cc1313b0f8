"""Undo mileposts, restore files, mark commits, remove what old runs left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from milepost.engine.records.retention import Remains
    from milepost.engine.undo.restore_files import Restored
    from milepost.engine.undo.undo import Undone
    from milepost.engine.views.marks import Mark


def undo(
    tasks: str | Sequence[str] = (),
    roadmap: Path | str | None = None,
    *,
    to: str = "",
    with_dependents: bool = False,
    dry_run: bool = False,
) -> Undone:
    """Undo the mileposts of tasks, or all mileposts after `to`, and keep all others.

    Refused if later mileposts depend on them, unless `with_dependents` undoes those, too.
    """
    from milepost.engine.undo.undo import undo as take_back

    named = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    return take_back(path_of(roadmap), named, to=to, with_dependents=with_dependents, dry_run=dry_run)


def restore(files: Sequence[Path | str], roadmap: Path | str | None = None, *, source: str) -> Restored:
    """Write files of `source` (a task, `1.1#2`, a mark, a commit) into the user's working tree; commits nothing."""
    from milepost.engine.undo.restore_files import restore as bring_back

    return bring_back(path_of(roadmap), files, source=source)


def mark(name: str, roadmap: Path | str | None = None, *, at: str = "") -> Mark:
    """Name a commit; without `at` it is the user's HEAD."""
    from milepost.engine.views.marks import mark as put

    return put(path_of(roadmap), name, at)


def marks(roadmap: Path | str | None = None) -> tuple[Mark, ...]:
    """All marks, sorted by name."""
    from milepost.engine.views.marks import marks as list_marks

    return list_marks(path_of(roadmap))


def unmark(name: str, roadmap: Path | str | None = None) -> Mark:
    """Remove a mark; the commit stays."""
    from milepost.engine.views.marks import unmark as take_away

    return take_away(path_of(roadmap), name)


def clean(
    roadmap: Path | str | None = None,
    *,
    keep_days: float | None = None,
    database: str | None = None,
    dry_run: bool = False,
) -> Remains:
    """Remove what runs left that ended more than `keep_days` ago; mileposts and their proofs stay."""
    from milepost.engine.records.retention import clean as remove

    return remove(path_of(roadmap), keep_days=keep_days, database=database, dry_run=dry_run)
