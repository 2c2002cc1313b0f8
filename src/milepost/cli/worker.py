"""`milepost worker`: takes work that others submitted, and says what it does, a line each."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

import milepost
from milepost import events, machines
from milepost.cli.exit_codes import INTERRUPTED
from milepost.cli.format_text import safe_lines

if TYPE_CHECKING:
    from milepost import Event

Database = Annotated[
    str | None, typer.Option("--database", metavar="URL", help="postgresql://user@host/name. Default: run.database.")
]
Remote = Annotated[str | None, typer.Option("--remote", metavar="GIT_URL", help="The git remote all workers share.")]


def register(app: typer.Typer) -> None:
    app.command()(worker)


def worker(
    database: Database = None,
    remote: Remote = None,
    capacity: Annotated[
        int | None, typer.Option(min=1, max=256, metavar="N", help="Attempts running at the same time.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="What this machine offers, such as docker or node22; can be repeated."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The worker's name. Default: the host name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print events as JSON lines.")] = False,
) -> None:
    """Work on tasks of runs submitted to a database, until stopped."""

    def tell(event: Event) -> None:
        if as_json:
            _say(_json_line(event), sys.stdout)
        elif line := event_line(event):
            _say(f"{time.strftime('%H:%M:%S')}  {line}", sys.stderr)

    def ready(hired: machines.Worker) -> None:
        labels = f" · {', '.join(hired.labels)}" if hired.labels else ""
        _say(f"worker {hired.name} · {hired.capacity} at a time{labels} · waiting for work", sys.stderr)

    def lost(error: milepost.MilepostError) -> None:
        _say(f"error: {error.message}\n  {error.advice}", sys.stderr)

    machines.work(
        database=database,
        remote=remote,
        capacity=capacity,
        labels=tuple(label or ()),
        name=name,
        on_event=tell,
        on_ready=ready,
        on_lost=lost,
    )
    raise typer.Exit(INTERRUPTED)


def event_line(event: Event) -> str:
    """An event of any run in a line; empty for what a worker's log need not say."""
    match event:
        case events.StageStarted():
            return f"{event.run}  {event.stage:<7} {event.task}  attempt {event.attempt}"
        case events.AttemptFinished():
            return f"{event.run}  {event.verdict.value:<7} {event.task}  attempt {event.attempt}"
        case milepost.TaskFinished():
            end = event.verdict.value if event.verdict else "waiting"
            return f"{event.run}  over    {event.task}  {end} {(event.commit or '')[:7]}".rstrip()
        case events.WorkerChanged():
            return f"{event.run}  worker  {event.worker}  {event.what}"
        case milepost.RunFinished():
            return f"{event.run}  finished"
        case events.BudgetReached():
            return f"{event.run}  budget  {event.message}"
        case events.ServiceWaits():
            return f"{event.run}  waits   {event.task}  {event.what}"
        case milepost.GateOpened():
            return f"{event.run}  asks    {event.task}  {event.question}"
        case _:
            return ""


def _json_line(event: Event) -> str:
    import json

    return json.dumps(events.to_json(event))


def _say(text: str, stream: object) -> None:
    print(safe_lines(text), file=stream, flush=True)  # type: ignore[call-overload]
