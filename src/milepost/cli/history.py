"""What was done and how to go back: the log, attempts, differences, undo, restore, marks."""

from __future__ import annotations

from typing import Annotated

import typer

import milepost
import milepost.attempts
from milepost import history, roadmaps
from milepost.cli.arguments import Json, Roadmap, RoadmapOption, TaskId
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import answer, print_json, terminal_width

_PLACE = "A task, an attempt such as 1.1#2, a mark, or a commit."
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be undone, without changing anything.")]


def register(app: typer.Typer) -> None:
    for command in (log, attempts, diff, undo, restore, mark, marks, sync):
        app.command()(command)


def log(roadmap: Roadmap = None, as_json: Json = False) -> None:
    """List the mileposts, newest first."""
    from milepost.cli.show.log import log_lines, milepost_to_json

    posts = milepost.log(roadmap)
    answer(as_json, lambda: [milepost_to_json(post) for post in posts], lambda: log_lines(posts, terminal_width()))


def attempts(task: TaskId, roadmap: RoadmapOption = None, as_json: Json = False) -> None:
    """List every attempt at a task in every run, failed or not."""
    from milepost.cli.show.history import attempt_lines, tried_to_json

    found = milepost.attempts.of_task(task, roadmap)
    answer(as_json, lambda: [tried_to_json(one) for one in found], lambda: attempt_lines(found, terminal_width()))


def diff(
    place: Annotated[str, typer.Argument(metavar="PLACE", help=f"{_PLACE} On its own: show what it changed.")],
    other: Annotated[str, typer.Argument(metavar="PLACE", help="Compare the first with this one.")] = "",
    stat: Annotated[bool, typer.Option("--stat", help="Show only the changed files and line counts.")] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Show what a milepost or an attempt changed, or compare two of them."""
    from milepost.cli.show.diff import difference_to_json, page

    found = milepost.attempts.diff(place, other, roadmap, stat=stat)
    if as_json:
        print_json(difference_to_json(found))
    else:
        page(found.patch)


def undo(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="Task ids, as plan and log print them.")
    ] = None,
    to: Annotated[
        str,
        typer.Option(metavar="PLACE", help="Undo everything after this task or mark; keep the task or mark itself."),
    ] = "",
    with_dependents: Annotated[
        bool, typer.Option("--with-dependents", help="Also undo later tasks that depend on it.")
    ] = False,
    dry_run: DryRun = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Undo single mileposts, each with its own revert commit; all others stay."""
    from milepost.cli.show.history import undone_lines, undone_to_json

    found = milepost.undo(tasks or (), roadmap, to=to, with_dependents=with_dependents, dry_run=dry_run)
    answer(as_json, lambda: undone_to_json(found), lambda: undone_lines(found, to, terminal_width()))


def restore(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files or whole folders.")],
    source: Annotated[str, typer.Option("--from", metavar="PLACE", help=_PLACE)],
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Restore files in your working tree from a task, attempt, mark or commit. Nothing is committed."""
    from milepost.cli.show.history import restored_lines, restored_to_json

    found = history.restore(files, roadmap, source=source)
    answer(as_json, lambda: restored_to_json(found), lambda: restored_lines(found, terminal_width()))


def mark(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters and digits, with . _ + - between them.")],
    at: Annotated[str, typer.Option(metavar="PLACE", help=f"{_PLACE} Default: HEAD.")] = "",
    delete: Annotated[bool, typer.Option("--delete", help="Delete the mark.")] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Name a milepost or the current commit, so that you can return to it."""
    from milepost.cli.show.history import mark_line, mark_to_json

    if delete and at:
        raise typer.BadParameter("--delete cannot be combined with --at")
    found = history.unmark(name, roadmap) if delete else history.mark(name, roadmap, at=at)
    back = proposed(f"\nnext   milepost undo --to {found.name}   returns to it")
    gone = " deleted; the commit stays" if delete else back
    answer(as_json, lambda: mark_to_json(found), lambda: [f"{mark_line(found)}{gone}"])


def marks(roadmap: Roadmap = None, as_json: Json = False) -> None:
    """List the marks by name."""
    from milepost.cli.show.history import mark_to_json, marks_lines

    found = history.marks(roadmap)
    answer(as_json, lambda: [mark_to_json(one) for one in found], lambda: marks_lines(found, terminal_width()))


def sync(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the differences, without changing anything.")
    ] = False,
    roadmap: Roadmap = None,
    as_json: Json = False,
) -> None:
    """Make the roadmap match git and the database: tick tasks with a milepost, reopen tasks that were undone."""
    from milepost.cli.format_text import from_here
    from milepost.cli.show.sync import sync_lines, synced_to_json

    found = roadmaps.sync(roadmap, dry_run=dry_run)
    name = from_here(roadmaps.find(roadmap))
    answer(as_json, lambda: synced_to_json(found), lambda: sync_lines(found, name, terminal_width()))
