"""The roadmap commands: read prose with a model, write a new roadmap, list the templates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milepost import roadmaps
from milepost.cli.arguments import Json
from milepost.cli.format_text import safe
from milepost.cli.output import print_json, print_lines, terminal_width

group = typer.Typer(help="Create roadmaps from prose, a prompt or a template.", no_args_is_help=True)

Write = Annotated[
    Path | None, typer.Option("--write", metavar="FILE", help="Write the roadmap to this file. Default: write no file.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="The model to ask, as provider:model. Default: model.name."),
]
TemplateName = Annotated[
    str, typer.Option("--template", metavar="NAME", help="Start from this template, without a model.")
]
Style = Annotated[
    str, typer.Option("--style", metavar="STYLE", help="How detailed the tasks are: minimal, standard, detailed.")
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="roadmap")


@group.command()
def normalise(
    document: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="The document. Default: ROADMAP.md in this or a parent folder."),
    ] = None,
    write: Write = None,
    force: Force = False,
    model: Model = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Use a model even if the tasks can be read without one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Let a model find the tasks in a prose document, each with its line."""
    from milepost.cli.show.roadmap import normalised_lines, normalised_to_json

    found = roadmaps.normalise(document, write=write, model=model, force=force, anyway=anyway, say=tell)
    if as_json:
        print_json(normalised_to_json(found))
    else:
        print_lines("\n".join(normalised_lines(found, terminal_width())))


@group.command()
def new(
    prompt: Annotated[
        str, typer.Option("--prompt", metavar="TEXT", help="What you want to build; a model writes the tasks.")
    ] = "",
    template: TemplateName = "",
    style: Style = "standard",
    write: Write = None,
    force: Force = False,
    model: Model = None,
    as_json: Json = False,
) -> None:
    """Write a new roadmap, from a prompt with a model or from a template without one."""
    from milepost.cli.show.roadmap import composed_notes, composed_to_json, written_lines

    made = roadmaps.new(prompt=prompt, template=template, style=style, write=write, model=model, force=force, say=tell)
    for line in composed_notes(made):
        tell(line)
    if as_json:
        print_json(composed_to_json(made))
    elif made.written is None:
        typer.echo(made.text, nl=False)
    else:
        print_lines("\n".join(written_lines(made.written)))


@group.command()
def templates(as_json: Json = False) -> None:
    """List the templates for new roadmaps."""
    from milepost.cli.show.roadmap import template_lines

    found = roadmaps.templates()
    if as_json:
        print_json([{"name": one.name, "about": one.about} for one in found])
    else:
        print_lines("\n".join(template_lines(found, terminal_width())))


def tell(line: str) -> None:
    """Say something to people, beside the answer."""
    print_lines(safe(line), err=True)
