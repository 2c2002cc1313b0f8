"""The clean command: what finished runs left, and how much room its removal gave back."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from milepost import history
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.format_text import counted
from milepost.cli.output import print_lines


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(clean)


def clean(
    keep_days: Annotated[
        float | None,
        typer.Option(min=0, metavar="N", help="Keep the data of runs for this many days. Default: state.keep_days."),
    ] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Clean the database that the workers share.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed, without removing it.")
    ] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Delete the attempts, recorded steps and logs of old runs. Mileposts and their proofs are kept."""
    remains = history.clean(roadmap, keep_days=keep_days, database=database, dry_run=dry_run)
    if as_json:
        print_lines(json.dumps(remains_to_json(remains), indent=2))
    else:
        print_lines("\n".join(clean_lines(remains)))


def clean_lines(remains: history.Remains) -> list[str]:
    """What was removed, or would be, and what stays."""
    things = (
        (len(remains.workflows), "workflow"),
        (len(remains.refs), "ref"),
        (remains.rows, "row"),
        (len(remains.logs), "log"),
    )
    told = ", ".join(counted(number, word) for number, word in things if number)
    days = counted(int(remains.keep_days), "day") if remains.keep_days == int(remains.keep_days) else "that"
    lines = [f"nothing to remove: no run that ended more than {days} ago has any data left"]
    if told:
        of = f" of {counted(len(remains.runs), 'run')}" if remains.runs else ""
        freed = f", {size(remains.freed_bytes)} freed"
        lines = [f"removed{of}: {told}{freed}"] if remains.removed else [f"would remove{of}: {told}"]
    for run in remains.unmerged:
        lines.append(
            f"kept the attempts of run {run}: its mileposts are not merged into your branch (git merge milepost/{run})"
        )
    return lines


def remains_to_json(remains: history.Remains) -> dict[str, Any]:
    """The same for machines."""
    return {
        "removed": remains.removed,
        "keep_days": remains.keep_days,
        "runs": list(remains.runs),
        "workflows": len(remains.workflows),
        "refs": [name for name, _ in remains.refs],
        "rows": remains.rows,
        "logs": len(remains.logs),
        "unmerged": list(remains.unmerged),
        "freed_bytes": remains.freed_bytes,
    }


def size(count: int) -> str:
    """`812 bytes`, `4.2 kB`, `1.3 MB`."""
    if count < 1000:
        return counted(count, "byte")
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
