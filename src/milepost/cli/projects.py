"""`milepost projects`, and what `plan` and `run` do for all projects of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import milepost
import milepost.projects
from milepost.cli.arguments import Json
from milepost.cli.exit_codes import DONE, INTERRUPTED, NOT_DONE
from milepost.cli.output import print_json, print_lines, terminal_width
from milepost.cli.together import machine_tell, people_tell, print_line

Workspace = Annotated[
    bool, typer.Option("--workspace", help="All projects in workspace.members, or declared by manifests.")
]


def register(app: typer.Typer) -> None:
    app.command()(projects)


def projects(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The workspace folder. Default: this one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the projects of a workspace, with their languages and dependencies."""
    from milepost.cli.show.projects import project_lines

    found = milepost.projects.find(folder)
    if as_json:
        print_json(milepost.projects.to_json(found))
    else:
        print_lines("\n".join(project_lines(found, terminal_width())))
    raise typer.Exit(NOT_DONE if found.circles else DONE)


def plan_all(folder: Path | None, as_json: bool) -> None:
    """One plan for all projects of a workspace."""
    from milepost.cli.show.projects import joint_lines

    made = milepost.projects.plan(folder)
    if as_json:
        print_json(milepost.projects.plan_to_json(made))
    else:
        print_lines("\n".join(joint_lines(made, terminal_width())))
    raise typer.Exit(NOT_DONE if any(one.problem.fatal for one in made.problems) else DONE)


def run_all(folder: Path | None, as_json: bool, agent: str | None, options: milepost.RunOptions) -> None:
    """Run the projects of a workspace one after the other."""
    from milepost.cli.show.projects import in_turn_lines

    tell = machine_tell() if as_json else people_tell()
    ending = milepost.projects.run(folder, agent=agent, on_event=tell, **options)
    if as_json:
        print_line(milepost.projects.run_to_json(ending))
    else:
        print_lines("\n".join(in_turn_lines(ending)))
    if isinstance(ending, milepost.NothingToDo) or ending.complete:
        raise typer.Exit(DONE)
    raise typer.Exit(INTERRUPTED if ending.stopped else NOT_DONE)


def folder_of(roadmap: Path | None, *, asked: bool) -> Path | None:
    """The folder of the workspace that is meant; None where one roadmap is."""
    folder = roadmap if roadmap is not None else Path()
    if roadmap is not None and not roadmap.is_dir():
        if asked:
            raise typer.BadParameter("--workspace takes the folder of the workspace, not a roadmap")
        return None
    return folder if asked or milepost.projects.is_workspace(folder) else None
