"""The start command: find the entry point of a project and run it in the sandbox."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import milepost
from milepost import executors
from milepost.cli.arguments import Json, NetworkOption
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.format_text import safe
from milepost.cli.output import answer, print_lines
from milepost.cli.sh import ask_person, print_line


def register(app: typer.Typer) -> None:
    """Add the command; what follows `--` belongs to the program."""
    app.command()(start)


def start(
    folder: Annotated[str | None, typer.Argument(metavar="FOLDER", help="The project. Default: this folder.")] = None,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="-- ARGS", help="Arguments of the program.")] = None,
    entry: Annotated[
        str | None, typer.Option(metavar="NAME", help="The entry point to start: a name of --list, or a script file.")
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Only list the entry points.")] = False,
    trust: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="isolated or sandboxed. Default: the strongest available here.")
    ] = None,
    network: NetworkOption = None,
    timeout: Annotated[float | None, typer.Option(min=0.001, metavar="S", help="Seconds. Default: no limit.")] = None,
    as_json: Json = False,
) -> None:
    """Find the entry point of a project, run it in the sandbox, and explain what goes wrong."""
    from milepost.cli.show.start import ending_lines, list_lines, start_to_json

    place, given = folder_and_arguments([*([] if folder is None else [folder]), *(arguments or [])], sys.argv)
    ended = executors.start_project(
        place,
        entry=entry,
        arguments=given,
        trust=trust,
        network=network,
        timeout_s=timeout,
        only_list=only_list,
        say=None if as_json else _say,
        on_line=None if as_json else print_line,
        ask=ask_person,
    )
    if as_json or only_list:
        answer(as_json, lambda: start_to_json(ended), lambda: list_lines(ended))
    else:
        for line in ending_lines(ended):
            print_lines(line, err=True)
    raise typer.Exit(NOT_DONE if ended.failure is not None else DONE)


def folder_and_arguments(words: list[str], argv: list[str]) -> tuple[Path | None, list[str]]:
    """The words before and after `--`: the parser of the command line takes it out and fills the first place first."""
    after = len(argv) - argv.index("--") - 1 if "--" in argv else 0
    before, arguments = words[: len(words) - after], words[len(words) - after :]
    if len(before) > 1:
        raise milepost.Misuse(f"{before[1]!r} is one word too many", "arguments of the program come after --")
    return (Path(before[0]) if before else None), arguments


def _say(line: str) -> None:
    print_lines(safe(line), err=True)
