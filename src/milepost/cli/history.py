"""What was done and how to go back: the log, attempts, differences, undo, restore, marks."""

from __future__ import annotations

from typing import Annotated

import typer

import milepost
from milepost.cli.arguments import Json, Roadmap, RoadmapOption, TaskId
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import answer, print_json, terminal_width

_PLACE = "A task, an attempt such as 1.1#2, a mark, or a commit."
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be taken back, and change nothing.")]


def register(app: typer.Typer) -> None:
    for command in (log, attempts, diff, undo, restore, mark, marks, sync):
        app.command()(command)


def log(roadmap: Roadmap = None, as_json: Json = False) -> None:
    """The mileposts, newest first."""
    from milepost.cli.show.log import log_lines, milepost_to_json

    posts = milepost.log(roadmap)
    answer(as_json, lambda: [milepost_to_json(post) for post in posts], lambda: log_lines(posts, terminal_width()))


def attempts(task: TaskId, roadmap: RoadmapOption = None, as_json: Json = False) -> None:
    """Every attempt at a task in every run, failed or not."""
    from milepost.cli.show.history import attempt_lines, tried_to_json

    found = milepost.attempts(task, roadmap)
    answer(as_json, lambda: [tried_to_json(one) for one in found], lambda: attempt_lines(found, terminal_width()))


def diff(
    place: Annotated[str, typer.Argument(metavar="PLACE", help=f"{_PLACE} Alone: what it changed.")],
    other: Annotated[str, typer.Argument(metavar="PLACE", help="What differs from the first to this one.")] = "",
    stat: Annotated[bool, typer.Option("--stat", help="Only which files, and how much.")] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """What a milepost or an attempt changed, or what differs between two of them."""
    from milepost.cli.show.diff import difference_to_json, page

    found = milepost.diff(place, other, roadmap, stat=stat)
    if as_json:
        print_json(difference_to_json(found))
    else:
        page(found.patch)


def undo(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="Tasks by id, as plan and log print them.")
    ] = None,
    to: Annotated[
        str, typer.Option(metavar="PLACE", help="All that landed after this task or mark, which stays.")
    ] = "",
    with_dependents: Annotated[
        bool, typer.Option("--with-dependents", help="Later tasks that depend on it, too.")
    ] = False,
    dry_run: DryRun = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Take mileposts back, each with a commit of its own; all others stay."""
    from milepost.cli.show.history import undone_lines, undone_to_json

    found = milepost.undo(tasks or (), roadmap, to=to, with_dependents=with_dependents, dry_run=dry_run)
    answer(as_json, lambda: undone_to_json(found), lambda: undone_lines(found, to, terminal_width()))


def restore(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files, or folders with all files in them.")],
    source: Annotated[str, typer.Option("--from", metavar="PLACE", help=_PLACE)],
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Bring files back into your tree as they were somewhere; committing them is left to you."""
    from milepost.cli.show.history import restored_lines, restored_to_json

    found = milepost.restore(files, roadmap, source=source)
    answer(as_json, lambda: restored_to_json(found), lambda: restored_lines(found, terminal_width()))


def mark(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and . _ + - between them.")],
    at: Annotated[str, typer.Option(metavar="PLACE", help=f"{_PLACE} Default: the commit you stand on.")] = "",
    delete: Annotated[bool, typer.Option("--delete", help="Take the mark away.")] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Give a milepost or the current commit a name to come back to."""
    from milepost.cli.show.history import mark_line, mark_to_json

    if delete and at:
        raise typer.BadParameter("--delete takes no --at")
    found = milepost.unmark(name, roadmap) if delete else milepost.mark(name, roadmap, at=at)
    back = proposed(f"\nnext   milepost undo --to {found.name}   comes back to it")
    gone = " is gone; the commit stays" if delete else back
    answer(as_json, lambda: mark_to_json(found), lambda: [f"{mark_line(found)}{gone}"])


def marks(roadmap: Roadmap = None, as_json: Json = False) -> None:
    """The marks, by name."""
    from milepost.cli.show.history import mark_to_json, marks_lines

    found = milepost.marks(roadmap)
    answer(as_json, lambda: [mark_to_json(one) for one in found], lambda: marks_lines(found, terminal_width()))


def sync(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what does not agree, and change nothing.")] = False,
    roadmap: Roadmap = None,
    as_json: Json = False,
) -> None:
    """Bring roadmap, git and database to agree: tick what has a milepost here, open what was taken back."""
    from milepost.cli.format_text import from_here
    from milepost.cli.show.sync import sync_lines, synced_to_json

    found = milepost.sync(roadmap, dry_run=dry_run)
    name = from_here(milepost.find_roadmap(roadmap))
    answer(as_json, lambda: synced_to_json(found), lambda: sync_lines(found, name, terminal_width()))
