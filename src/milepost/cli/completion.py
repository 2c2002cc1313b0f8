"""Completion of commands and options by the shell: from the command line's own description, never from a repository."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

PROGRAM: Final = "milepost"
VARIABLE: Final = "_MILEPOST_COMPLETE"  # the shell sets it when it asks


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(completion)


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell: bash, zsh or fish.")],
) -> None:
    """Print the lines that complete commands and options in your shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))


def answer(app: typer.Typer) -> None:
    """Print what could follow the words that the shell has so far, and end."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()
    app(prog_name=PROGRAM)
