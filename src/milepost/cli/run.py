"""The commands that work on a roadmap: `run` and `resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import milepost
from milepost.cli import projects, replay
from milepost.cli.arguments import Dialect, Group, Json, NetworkOption, Order, Roadmap
from milepost.cli.output import print_json, terminal_width
from milepost.cli.run_live import people_watch, travel
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
            help="Who does the work: tool, code, claude, codex, aider, acp:NAME, command:ARGV, pattern:NAME, "
            "replay:FILE, or auto: whom the router chooses.",
        ),
    ] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, metavar="N", help="Attempts under way at once.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; may be repeated.")] = None,
    max_tasks: Annotated[int | None, typer.Option(min=1, metavar="N", help="At most so many tasks.")] = None,
    trust: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="isolated, sandboxed; absent: the strongest held here.")
    ] = None,
    network: NetworkOption = None,
    budget: Annotated[float | None, typer.Option(min=0.0001, metavar="USD", help="What the run may cost.")] = None,
    approve: Annotated[str | None, typer.Option(metavar="WHEN", help="Ask a person: each, risky, never.")] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="The same by name: step, supervised, autonomous.")
    ] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="Land in the order of the plan.")] = False,
    order: Order = None,
    group: Group = None,
    dialect: Dialect = None,
    memory: Annotated[
        str | None, typer.Option(metavar="MODE", help="What is remembered: on, off, read-only. Over memory.mode.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Leave an interrupted run and start another.")] = False,
    held: Annotated[bool, typer.Option("--held", hidden=True)] = False,
    met: Annotated[list[str] | None, typer.Option("--met", hidden=True)] = None,
    database: Database = None,
    remote: Remote = None,
    record: replay.Record = None,
    workspace: projects.Workspace = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what a run would do, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Work on the roadmap until every open task has its milepost or its reason."""
    if approve and mode:
        raise milepost.Misuse("--approve and --mode say the same thing in two ways", "give one of them")
    wishes = milepost.Wishes(
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
        held=held,
        met=tuple(met or ()),
        database=database,
        remote=remote,
    )
    if workspace:
        if record or dry_run:
            raise milepost.Misuse(
                "--workspace goes without --record and --dry-run", "milepost plan --workspace shows what would be done"
            )
        projects.run_all(projects.folder_of(roadmap, asked=True), as_json, agent, wishes)
    elif dry_run:
        made = milepost.plan(roadmap, order=order, group=group, dialect=dialect)
        _preview(made, roadmap, milepost.preview(roadmap, agent=agent, **wishes), as_json)
    else:
        stays = people_watch()
        travel(
            as_json,
            lambda tell: milepost.run(roadmap, agent=agent, stays=stays, record=record, on_event=tell, **wishes),
        )


def resume(
    roadmap: Roadmap = None,
    meant: Annotated[str | None, typer.Option("--run", metavar="ID", help="Only if it is this one.")] = None,
    budget: Annotated[float | None, typer.Option(min=0.0001, metavar="USD", help="A new budget for it.")] = None,
    database: Database = None,
    record: replay.Record = None,
    as_json: Json = False,
) -> None:
    """Go on with the run that was interrupted or paused; it needs no flags."""
    stays = people_watch()
    travel(
        as_json,
        lambda tell: milepost.resume(
            roadmap, run=meant, budget_usd=budget, stays=stays, database=database, record=record, on_event=tell
        ),
    )


def _preview(
    made: milepost.Plan, roadmap: Path | None, found: tuple[str, ...] | milepost.NothingToDo, as_json: bool
) -> None:
    from milepost.cli.format_text import from_here
    from milepost.cli.show.plan import preview_lines

    would_run = () if isinstance(found, milepost.NothingToDo) else found
    if as_json:
        answer = milepost.plan_to_json(made) | {"would_run": list(would_run)}
        print_json(answer)
    elif isinstance(found, milepost.NothingToDo):
        typer.echo(f"nothing to do: {found.reason}")
    else:
        typer.echo("\n".join(preview_lines(made, found, from_here(milepost.find_roadmap(roadmap)), terminal_width())))
