"""The commands about what runs: watch, alerts, incidents."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from milepost import watching
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.deploy import Environment, Target
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.output import answer, json_text, print_json, print_lines, terminal_width

if TYPE_CHECKING:
    from milepost.watching import Sight


def register(app: typer.Typer) -> None:
    for command in (watch, alerts, incidents):
        app.command()(command)


def watch(
    target: Target = "local",
    environment: Environment = "dev",
    once: Annotated[
        bool, typer.Option("--once", help="Look for a few seconds, print what was seen; exit 1 where it is not well.")
    ] = False,
    heal: Annotated[
        Literal["off", "suggest", "auto"] | None,
        typer.Option(help="Only alerts, say what would be done, or do it. Default: as the settings say."),
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option("--metrics", metavar="PORT", help="Serve /metrics for Prometheus on 127.0.0.1.")
    ] = None,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Watch what is live on a target: measure, alert, and heal it where you allow that.

    It goes on until you interrupt it. After a crash the next one ends what was under way.
    """
    from milepost.cli.show import watch as show

    last: list[Sight] = []
    with show.Live() if show.is_redrawn() and not (as_json or once) else nullcontext() as live:
        metrics = show.serve_metrics(metrics_port) if metrics_port is not None else None

        def tell(sight: Sight) -> bool:
            last.append(sight)
            del last[: -show.HISTORY]
            if metrics is not None:
                metrics.sight = sight
            if once:
                return len(last) < show.LOOKS_OF_ONCE
            if as_json:
                print_lines(json_text(watching.sight_to_json(sight)).replace("\n", " "))
            elif live is not None:
                live.show(last, terminal_width())
            else:
                print_lines("\n".join(show.news_lines(last)))
            return True

        watching.watch(target, roadmap, tell=tell, environment=environment, heal=heal)
    well = show.is_well(last[-1])
    answer(as_json, lambda: watching.sight_to_json(last[-1]), lambda: show.sight_lines(last, terminal_width()))
    raise typer.Exit(DONE if well else NOT_DONE)


def alerts(
    target: Target = "local",
    environment: Environment = "dev",
    acknowledge: Annotated[str, typer.Option("--ack", metavar="ALERT", help="Say that you look after this one.")] = "",
    silence: Annotated[str, typer.Option(metavar="ALERT", help="Have nobody told of this one for a while.")] = "",
    minutes: Annotated[float, typer.Option(metavar="N", min=1, help="For how long --silence holds.")] = 60,
    history: Annotated[bool, typer.Option("--history", help="What became of alerts, newest first.")] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """List the alerts of a target, look after one, or silence it."""
    from milepost.cli.show import watch as show

    if acknowledge:
        watching.acknowledge(target, acknowledge, roadmap, environment=environment)
    if silence:
        watching.silence(target, silence, minutes, roadmap, environment=environment)
    if history:
        moves = watching.alert_history(target, roadmap, environment=environment)
        answer(as_json, lambda: [asdict(one) for one in moves], lambda: show.history_lines(moves))
        return
    found = watching.alerts(target, roadmap, environment=environment)
    now = time.time()
    answer(
        as_json,
        lambda: [watching.alert_to_json(one, now) for one in found],
        lambda: show.alert_lines(found, now, target, environment),
    )


def incidents(
    target: Target = "local",
    environment: Environment = "dev",
    number: Annotated[
        int | None, typer.Option("--incident", metavar="N", help="Show what happened in this one.")
    ] = None,
    task: Annotated[
        int | None,
        typer.Option(
            "--task", metavar="N", help="Make this one a task of the roadmap, with a test where one shows it."
        ),
    ] = None,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """List the incidents of a target, with what was done and whether it helped, or make one a task."""
    from milepost.cli.show import watch as show

    if task is not None:
        made = watching.incident_task(
            target, task, roadmap, environment=environment, say=lambda line: print_lines(line, err=True)
        )
        answer(as_json, lambda: asdict(made), lambda: show.task_lines(made))
        return
    found = watching.incidents(target, roadmap, environment=environment)
    chosen = [one for one in found if number in (None, one[0].number)]
    if as_json:
        print_json([watching.incident_to_json(*one) for one in chosen])
    else:
        print_lines("\n".join(show.incident_lines(chosen, whole=number is not None)))
