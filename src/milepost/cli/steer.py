"""Steering a run while it is on: pause, another agent, more at a time, a task less, or a task once more."""

from __future__ import annotations

from typing import Annotated

import typer

import milepost
from milepost.cli.arguments import Json, Roadmap, RoadmapOption, TaskId
from milepost.cli.named_roadmap import proposed
from milepost.cli.run_live import people_watch, travel
from milepost.cli.worker import Database


def register(app: typer.Typer) -> None:
    app.command()(pause)
    app.command()(steer)
    app.command()(retry)


def pause(roadmap: Roadmap = None, database: Database = None) -> None:
    """Begin nothing new in the run that is on; what is at work goes on. `milepost resume` lifts it."""
    run = milepost.steer("pause", roadmap, database=database)
    typer.echo(proposed(f"run {run} is paused: what is at work goes on, nothing new begins\nnext   milepost resume"))


def steer(
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who makes the attempts that begin from now.")
    ] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, metavar="N", help="Attempts under way at once.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="ID", help="Leave this task out; may be repeated.")] = None,
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Words to whoever makes the attempts that begin from now.")
    ] = None,
    task: Annotated[str, typer.Option(metavar="ID", help="Only this task is given to the agent, or noted.")] = "",
    roadmap: RoadmapOption = None,
    database: Database = None,
) -> None:
    """Change the run that is on. Tasks are added, changed and dropped by editing the roadmap, too."""
    asked = [("drop", name, "") for name in drop or ()]
    asked += [("agent", task, agent)] if agent else []
    asked += [("parallel", "", str(parallel))] if parallel else []
    asked += [("note", task, note)] if note is not None else []
    if not asked:
        raise typer.BadParameter("say what to change: --agent, --parallel, --drop or --note")
    for kind, name, value in asked:
        run = milepost.steer(kind, roadmap, task=name, value=value, database=database)
    when = "; the note is given from the next attempt on" if note is not None else ""
    typer.echo(proposed(f"run {run} was asked{when}\nnext   milepost status   says what it changed"))


def retry(
    task: TaskId,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="By another agent.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0001, metavar="USD", help="What it may cost. Default: what is left.")
    ] = None,
    roadmap: RoadmapOption = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Try a task once more, in a run of its own, by the same agent and held as when it was tried last."""
    stays = people_watch()
    travel(
        as_json,
        lambda tell: milepost.retry(
            task, roadmap, agent=agent, budget_usd=budget, stays=stays, database=database, on_event=tell
        ),
    )
