"""Replaying a run: the same lines as then, and whether the trees are the same."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from milepost import events, proofs
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.exit_codes import DONE, INTERRUPTED, NOT_DONE
from milepost.cli.format_text import counted, mark, safe
from milepost.cli.output import print_lines

MOST_FILES = 5
_COLLECTOR = "OTEL_EXPORTER_OTLP"  # a replay is told to nobody

Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="Record what the agents answer and do, for --agent replay:FILE."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(replay)


def replay(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The id of a finished run.")],
    task: Annotated[
        str, typer.Option(metavar="ID", help="Only this task, from the commit it was merged onto or started from.")
    ] = "",
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="An empty folder for the clone. Default: a cache folder.")
    ] = None,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Repeat a finished run in a clone from its recording, without models, and compare the resulting trees."""
    for name in [name for name in os.environ if name.startswith(_COLLECTOR)]:
        del os.environ[name]
    replayed = _machines(run, task, folder, roadmap) if as_json else _people(run, task, folder, roadmap)
    raise typer.Exit(INTERRUPTED if not replayed.ended else DONE if replayed.same else NOT_DONE)


def replayed_lines(replayed: proofs.RunReplayed) -> list[str]:
    """A line for each task, whether all is the same, and where the clone is if it is still there."""
    same = sum(task.same for task in replayed.tasks)
    verdict = f"{same} of {counted(len(replayed.tasks), 'task')} gave the same tree as in run {replayed.run}"
    stopped = [] if replayed.ended else ["stopped before its end"]
    kept = [f"the clone is in {replayed.folder}"] if replayed.folder is not None else []
    lines = [line for task in replayed.tasks for line in _task_lines(task)]
    return [*lines, "", verdict, *stopped, *map(safe, replayed.remarks), *kept]


def _task_lines(task: proofs.TaskReplayed) -> list[str]:
    name = safe(task.task)
    if task.same:
        return [f"{mark('passed')} {name}  {_tree(task.found)}, as recorded"]
    more = [f"and {len(task.files) - MOST_FILES} more"] if len(task.files) > MOST_FILES else []
    files = [f"    differs: {safe(', '.join([*task.files[:MOST_FILES], *more]))}"] if task.files else []
    return [f"{mark('failed')} {name}  recorded: {_tree(task.recorded)}, now: {_tree(task.found)}", *files]


def _tree(name: str) -> str:
    return f"tree {name[:12]}" if name else "no milepost"


def _machines(run: str, task: str, folder: Path | None, roadmap: Path | None) -> proofs.RunReplayed:
    replayed = proofs.replay_run(
        run,
        roadmap,
        task=task,
        folder=folder,
        on_event=lambda event: print_lines(json.dumps(events.to_json(event))),
    )
    print_lines(json.dumps(proofs.replayed_to_json(replayed)))
    return replayed


def _people(run: str, task: str, folder: Path | None, roadmap: Path | None) -> proofs.RunReplayed:
    from rich.console import Console

    from milepost.cli.live_display import LiveDisplay

    with LiveDisplay(Console(stderr=True)) as progress:
        replayed = proofs.replay_run(run, roadmap, task=task, folder=folder, on_event=progress)
    print_lines("\n".join(replayed_lines(replayed)))
    return replayed
