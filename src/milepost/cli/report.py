"""What others read of a run: its events, and its report as a page or as Markdown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

import milepost
import milepost.events
from milepost import releases, reports
from milepost.cli.arguments import Json, Roadmap
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import print_lines, terminal_width
from milepost.cli.worker import Database

RunOption = Annotated[str | None, typer.Option("--run", metavar="ID", help="The run. Default: the latest.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(events)
    app.command()(report)


def events(
    roadmap: Roadmap = None,
    run: RunOption = None,
    after: Annotated[int, typer.Option(min=0, metavar="N", help="Only events after this number.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more events until it is over.")] = False,
    printed: Annotated[bool, typer.Option("--printed", help="Also show the output of commands.")] = False,
    target: Annotated[
        str | None, typer.Option(metavar="TARGET", help="The events of its releases, instead of those of a run.")
    ] = None,
    environment: Annotated[str, typer.Option("--env", metavar="ENV", help="The environment of TARGET.")] = "dev",
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List the events of a run, or of a target's releases, in order, one per line."""
    from milepost.cli.show.events import event_line, printed_lines
    from milepost.cli.show.releases import event_line as release_line

    width = terminal_width() if sys.stdout.isatty() else 10_000
    if target is not None:
        if run or printed:
            raise milepost.Misuse("--target cannot be combined with --run or --printed", "use one of them")
        for move in releases.events(roadmap, target=target, environment=environment, after=after, follow=follow):
            print_lines(json.dumps(releases.event_to_json(move)) if as_json else release_line(move, width))
        return
    some = False
    for entry in milepost.events.read(roadmap, run=run, after=after, follow=follow, printed=printed, database=database):
        some = True
        print_lines(json.dumps(milepost.events.entry_to_json(entry)) if as_json else event_line(entry, width))
        if not as_json and isinstance(entry.event, milepost.events.CommandPrinted):
            print_lines("\n".join(printed_lines(entry.event, width)))
    if not some and not as_json:
        print_lines("no events yet" if not after else f"no events after {after}", err=True)


def report(
    roadmap: Roadmap = None,
    run: RunOption = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page; - prints it.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Markdown, such as for a pull request; - prints it.")
    ] = None,
    database: Database = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a report: what was done with its proof, what failed and why, what waits for you, what it cost."""
    story = reports.of_run(roadmap, run=run, database=database)
    nobody_said = html is None and markdown is None
    if isinstance(story, reports.NothingRun):
        if nobody_said:
            print_lines(proposed("no runs here yet\nnext   milepost run"))
            return
    elif nobody_said:
        html = reports.default_path(story.run, roadmap)
        markdown = reports.default_path(story.run, roadmap, ending="md")
    for path, render in ((html, reports.to_html), (markdown, reports.to_markdown)):
        if path is not None:
            _put(render(story), path)
    if open_ and html is not None and str(html) != "-":
        import webbrowser

        if not webbrowser.open(html.absolute().as_uri()):
            print_lines("no browser found: open the file yourself", err=True)


def _put(text: str, path: Path) -> None:
    from milepost.cli.format_text import from_here

    if str(path) == "-":
        typer.echo(text, nl=False)
    else:
        reports.write(text, path)
        print_lines(from_here(path))
