"""The commands that work on a roadmap: `run` and `resume`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

import milepost
from milepost import plans, roadmaps
from milepost.cli import deploy, projects, replay
from milepost.cli.arguments import Dialect, Group, Json, NetworkOption, Order, Roadmap
from milepost.cli.exit_codes import DONE
from milepost.cli.format_text import clock_time, countdown
from milepost.cli.output import print_json, print_lines, terminal_width
from milepost.cli.run_live import people_watch, tell_run
from milepost.cli.worker import Database, Remote


def register(app: typer.Typer) -> None:
    app.command()(run)
    app.command()(resume)


def run(
    roadmap: Roadmap = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The agent: tool, code, claude, codex, aider, acp:NAME, command:ARGV, pattern:NAME, "
            "replay:FILE, or auto (chosen per task, see router.agents).",
        ),
    ] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, metavar="N", help="Attempts running at the same time.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; can be repeated.")] = None,
    max_tasks: Annotated[int | None, typer.Option(min=1, metavar="N", help="At most this many tasks.")] = None,
    trust: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="isolated or sandboxed. Default: the strongest level available.")
    ] = None,
    network: NetworkOption = None,
    budget: Annotated[float | None, typer.Option(min=0.0001, metavar="USD", help="Cost limit of the run.")] = None,
    approve: Annotated[str | None, typer.Option(metavar="WHEN", help="When to ask you: each, risky or never.")] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="The same as --approve, by name: step, supervised, autonomous.")
    ] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="Merge tasks in the order of the plan.")] = False,
    order: Order = None,
    group: Group = None,
    dialect: Dialect = None,
    memory: Annotated[
        str | None, typer.Option(metavar="MODE", help="Use of the memory: on, off, read-only. Overrides memory.mode.")
    ] = None,
    verify_mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="What is checked: auto, pytest, agent, skip. Overrides verify.mode."),
    ] = None,
    adaptive_mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="After a failure: auto-fix, suggest, no-adapt. Overrides repair.mode."),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Abandon an interrupted run and start a new one.")] = False,
    held: Annotated[bool, typer.Option("--held", hidden=True)] = False,
    met: Annotated[list[str] | None, typer.Option("--met", hidden=True)] = None,
    database: Database = None,
    remote: Remote = None,
    record: replay.Record = None,
    workspace: projects.Workspace = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what a run would do, without changing anything.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Work on the roadmap until every open task is done or has failed with a reason."""
    if approve and mode:
        raise milepost.Misuse("--approve and --mode set the same thing", "use one of them")
    options = milepost.RunOptions(
        tasks=tuple(task or ()),
        max_tasks=max_tasks,
        new=new,
        parallel=parallel,
        trust=trust,
        network=network,
        budget_usd=budget,
        approve=approve or mode,
        ordered=ordered or None,
        order=order,
        group=group,
        dialect=dialect,
        memory=memory,
        verify_mode=verify_mode,
        adaptive_mode=adaptive_mode,
        held=held,
        met=tuple(met or ()),
        database=database,
        remote=remote,
    )
    if workspace:
        if record or dry_run:
            raise milepost.Misuse(
                "--workspace cannot be combined with --record or --dry-run",
                "milepost plan --workspace shows what would be done",
            )
        projects.run_all(projects.folder_of(roadmap, asked=True), as_json, agent, options)
    elif dry_run:
        made = milepost.plan(roadmap, order=order, group=group, dialect=dialect)
        _preview(made, roadmap, milepost.preview(roadmap, agent=agent, **options), as_json)
    else:
        stays = people_watch()
        tell_run(
            as_json,
            lambda tell: milepost.run(roadmap, agent=agent, stays=stays, record=record, on_event=tell, **options),
        )


def resume(
    roadmap: Roadmap = None,
    meant: Annotated[str | None, typer.Option("--run", metavar="ID", help="Only resume if it is this run.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0001, metavar="USD", help="A new cost limit for the run.")
    ] = None,
    at_reset: Annotated[
        bool, typer.Option("--at-reset", help="First wait until the time at which the agent's service can be asked.")
    ] = False,
    database: Database = None,
    record: replay.Record = None,
    as_json: Json = False,
) -> None:
    """Continue what was interrupted or paused, a run and releases; no options are needed."""
    released = deploy.resume_interrupted(roadmap, as_json=as_json) if meant is None else DONE
    if at_reset:
        _wait_for_reset(roadmap, database)
    stays = people_watch()
    tell_run(
        as_json,
        lambda tell: milepost.resume(
            roadmap, run=meant, budget_usd=budget, stays=stays, database=database, record=record, on_event=tell
        ),
        before=released,
    )


def _wait_for_reset(roadmap: Path | None, database: str | None) -> None:
    """Wait until the service that the run waits for can be asked again, with a clock for people."""
    found = milepost.status(roadmap, database=database)
    until = None if found is None else found.goes_on_at
    shown = ""
    while until is not None and (left_s := until - time.time()) > 0:
        line = f"run {found.run if found else ''} goes on at {clock_time(until)}, in {countdown(left_s)}"
        if line != shown:
            typer.echo(f"\r{line}   " if sys.stderr.isatty() else line, err=True, nl=not sys.stderr.isatty())
        shown = line
        time.sleep(min(left_s, 1.0 if sys.stderr.isatty() else 60.0))
    if shown and sys.stderr.isatty():
        print_lines("", err=True)


def _preview(
    made: milepost.Plan, roadmap: Path | None, found: tuple[str, ...] | milepost.NothingToDo, as_json: bool
) -> None:
    from milepost.cli.format_text import from_here
    from milepost.cli.show.plan import preview_lines

    would_run = () if isinstance(found, milepost.NothingToDo) else found
    if as_json:
        answer = plans.to_json(made) | {"would_run": list(would_run)}
        print_json(answer)
    elif isinstance(found, milepost.NothingToDo):
        print_lines(f"nothing to do: {found.reason}")
    else:
        print_lines("\n".join(preview_lines(made, found, from_here(roadmaps.find(roadmap)), terminal_width())))
