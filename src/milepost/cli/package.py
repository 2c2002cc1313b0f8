"""The package command: an artifact of a milepost, built in a clean checkout and tried."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milepost import artifacts
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.format_text import safe
from milepost.cli.output import answer, print_lines


def register(app: typer.Typer) -> None:
    app.command()(package)


def package(
    commit: Annotated[
        str, typer.Argument(metavar="COMMIT", help="The milepost to package, or any commit. Default: HEAD.")
    ] = "",
    kind: Annotated[
        str | None,
        typer.Option("--as", metavar="KIND", help="wheel, npm, static, rust or image. Default: what fits the files."),
    ] = None,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Package a commit whose mileposts do not hold, and record that.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also copy the artifact and its documents to DIR.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write generated manifests into the project; nothing is overwritten.")
    ] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Package a milepost: build it twice in clean checkouts, compare, and run it once in the sandbox."""
    from milepost.cli.show.package import generated_lines, package_lines

    made = artifacts.package(commit, roadmap, kind=kind, unproven=unproven, say=_say)
    copied = artifacts.copy_to(made, out) if out is not None else ()
    written = artifacts.write_generated(made, roadmap) if write else ()
    if not as_json and not write:
        for line in generated_lines(made):
            print_lines(line)
    answer(as_json, lambda: artifacts.to_json(made), lambda: package_lines(made, copied, written))


def _say(line: str) -> None:
    print_lines(safe(line), err=True)
