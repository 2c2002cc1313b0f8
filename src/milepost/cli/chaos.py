"""The chaos command: how far it is while it goes on, and the table."""

from __future__ import annotations

import random as chance
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from milepost import benchmarks
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.format_text import counted, duration, padded, safe
from milepost.cli.output import print_json, print_lines

if TYPE_CHECKING:
    from rich.status import Status

RANDOM_INSTANTS = 30
MOST_FINDINGS = 20
NEWS_EVERY_S = 10.0  # where stderr is no terminal


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(chaos)


def chaos(
    roadmap: Annotated[
        Path | None,
        typer.Argument(
            metavar="ROADMAP", help="The roadmap; its agent's answers must be recorded. Default: a sample roadmap."
        ),
    ] = None,
    cassette: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The recorded answers. Default: the replay:FILE agent in the settings."),
    ] = None,
    tasks: Annotated[
        int | None, typer.Option(min=1, max=1000, metavar="N", help="Use a sample roadmap with this many tasks.")
    ] = None,
    every_boundary: Annotated[
        bool, typer.Option("--every-boundary", help="Kill the run after each recorded step.")
    ] = False,
    random: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Kill the run at this many random moments, each in a fresh copy."),
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Attempts running at the same time.")] = 1,
    seed: Annotated[int | None, typer.Option(metavar="S", help="Seed for the random moments, to repeat them.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the copies even if everything passed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Kill a run again and again in a separate copy, and count what was lost or done twice."""
    both = not every_boundary and random is None
    with _Clock() as clock:
        report = benchmarks.chaos(
            roadmap,
            cassette=cassette,
            tasks=tasks,
            every_boundary=every_boundary or both,
            random=RANDOM_INSTANTS if both else random or 0,
            parallel=parallel,
            seed=chance.randrange(10**6) if seed is None else seed,  # noqa: S311
            keep=keep,
            on_progress=clock,
        )
    if as_json:
        print_json(benchmarks.chaos_to_json(report))
    else:
        print_lines("\n".join(chaos_lines(report)))
    raise typer.Exit(DONE if report.passed else NOT_DONE)


def chaos_lines(report: benchmarks.ChaosReport) -> list[str]:
    """The report for people: what was tried, the table, what should not be."""
    rows = benchmarks.chaos_rows(report)
    first, *others = (max(len(row[place]) for row in rows) for place in range(len(rows[0])))
    table = [
        "  ".join((padded(row[0], first), *(f"{word:>{size}}" for word, size in zip(row[1:], others, strict=True))))
        for row in rows
    ]
    name = f"{safe(report.roadmap)}," if report.roadmap else "a sample of"
    tried = [
        f"{name} {counted(report.tasks, 'task')}, {report.parallel} at a time",
        f"{counted(report.mileposts, 'milepost')}, {counted(report.model_calls, 'model call')} and "
        f"{report.boundaries} recorded steps in {duration(round(report.calm_s * 1000))} without kills",
        *([f"seed {report.seed}"] if report.random is not None else []),
    ]
    found = [f"  {safe(line)}" for line in benchmarks.chaos_findings(report)]
    if len(found) > MOST_FINDINGS:
        found[MOST_FINDINGS:] = [f"  and {len(found) - MOST_FINDINGS} more: milepost chaos --json lists all of them"]
    verdict = "nothing was lost, nothing was done twice" if report.passed else "problems found:"
    kept = [f"the copies are in {report.folder}"] if report.folder else []
    return [" · ".join(tried), "", *table, "", verdict, *found, *kept]


class _Clock:
    """Tells on stderr how far it is: one line with a clock on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._told = ("", 0.0)
        self._status: Status | None = None

    def __enter__(self) -> _Clock:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, progress: benchmarks.ChaosProgress) -> None:
        now = time.monotonic() - self._started
        kills = f" · {progress.kills} of {progress.of} kills · {counted(progress.lives, 'life')}" if progress.of else ""
        line = f"{int(now) // 60}:{int(now) % 60:02} · {progress.drill}{kills}".replace("lifes", "lives")
        drill, at = self._told
        if self._status is not None:
            self._status.update(line)
        elif progress.drill != drill or now - at >= NEWS_EVERY_S:
            self._told = (progress.drill, now)
            print_lines(line, err=True)
