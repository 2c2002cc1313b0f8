"""Steering a run while it is on: pause, another agent, more at a time, a task less, or a task once more."""

from __future__ import annotations

from typing import Annotated

import typer

import milepost
from milepost.cli.arguments import Json, Roadmap, RoadmapOption, TaskId
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import print_lines
from milepost.cli.run_live import people_watch, tell_run
from milepost.cli.worker import Database


def register(app: typer.Typer) -> None:
    app.command()(pause)
    app.command()(steer)
    app.command()(retry)


def pause(roadmap: Roadmap = None, database: Database = None) -> None:
    """Pause the current run: start nothing new, finish what is running. Continue with `milepost resume`."""
    run = milepost.steer("pause", roadmap, database=database)
    print_lines(proposed(f"run {run} is paused: running attempts finish, nothing new starts\nnext   milepost resume"))


def steer(
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent for attempts that start from now on.")
    ] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, metavar="N", help="Attempts running at the same time.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="ID", help="Skip this task; can be repeated.")] = None,
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A message to the agents of attempts that start from now on.")
    ] = None,
    task: Annotated[str, typer.Option(metavar="ID", help="Apply --agent or --note only to this task.")] = "",
    roadmap: RoadmapOption = None,
    database: Database = None,
) -> None:
    """Change the current run. You can also add, change and drop tasks by editing the roadmap."""
    asked = [("drop", name, "") for name in drop or ()]
    asked += [("agent", task, agent)] if agent else []
    asked += [("parallel", "", str(parallel))] if parallel else []
    asked += [("note", task, note)] if note is not None else []
    if not asked:
        raise typer.BadParameter("name what to change: --agent, --parallel, --drop or --note")
    for kind, name, value in asked:
        run = milepost.steer(kind, roadmap, task=name, value=value, database=database)
    when = "; agents see it from the next attempt on" if note is not None else ""
    print_lines(proposed(f"change sent to run {run}{when}\nnext   milepost status   shows what it changed"))


def retry(
    task: TaskId,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Use another agent.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0001, metavar="USD", help="Cost limit. Default: what is left of the run's.")
    ] = None,
    roadmap: RoadmapOption = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Try a task again in a run of its own, with the agent and trust level of its last attempt."""
    stays = people_watch()
    tell_run(
        as_json,
        lambda tell: milepost.retry(
            task, roadmap, agent=agent, budget_usd=budget, stays=stays, database=database, on_event=tell
        ),
    )
