"""The exec command: code in the sandbox, once, and what it would change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import milepost
from milepost import executors
from milepost.cli.arguments import Json, NetworkOption
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.output import print_json, print_lines
from milepost.cli.show.diff import page
from milepost.cli.show.exec import Held, change_lines, exec_lines, held_to_json, lang_of, result_to_json


def register(app: typer.Typer) -> None:
    app.command(name="exec")(execute)


def execute(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The code to run; - reads stdin.")],
    trust: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="local, isolated or sandboxed. Default: the strongest level available."),
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to run in. Default: an empty one.")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show the changes to the workspace.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Apply the changes to the workspace.")] = False,
    network: NetworkOption = None,
    timeout: Annotated[float, typer.Option(min=0.001, metavar="S", help="Timeout in seconds.")] = 30.0,
    memory: Annotated[int, typer.Option(min=16, metavar="MB", help="Memory limit in megabytes.")] = 256,
    lang: Annotated[
        str | None,
        typer.Option(metavar="LANGUAGE", help="python, typescript or javascript. Default: by the file's extension."),
    ] = None,
    container: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="podman or docker, instead of a trust level.")
    ] = None,
    image: Annotated[str | None, typer.Option(metavar="IMAGE", help="The container image.")] = None,
    as_json: Json = False,
) -> None:
    """Run code in the sandbox. At level sandboxed, --accept decides whether its changes are kept."""
    if (diff or accept) and (workspace is None or container or trust not in (None, "sandboxed")):
        what = "--diff and --accept need --workspace and trust level 'sandboxed'"
        raise milepost.Misuse(what, "add --workspace DIR, and leave out --container and any other --trust")
    held: list[Held] = []

    def look(changes: executors.Changes) -> None:
        assert workspace is not None, "changes are those of a workspace"
        shown = changes.diff(workspace) if diff else ""
        refused = changes.accept(workspace) if accept else ()
        held.append(Held(changes=changes.list(), diff=shown, accepted=accept, refused=refused))

    result = milepost.execute(
        sys.stdin.read() if file == "-" else _read(Path(file)),
        lang=lang or lang_of(file),
        trust="sandboxed" if diff or accept else trust,
        network=network,
        limits=milepost.ExecutionLimits(timeout_s=timeout, memory_mb=memory),
        workspace=workspace,
        container=container,
        image=image,
        on_changes=look,
    )
    if as_json:
        told = result_to_json(result) | (held_to_json(held[0]) if held else {})
        print_json(told)
    else:
        sys.stdout.write(result.output)
        for one in held:
            page(one.diff.encode())
        for line in (*exec_lines(result), *(change_lines(held[0], result) if held else ())):
            print_lines(line, err=True)
    raise typer.Exit(DONE if result.succeeded else NOT_DONE)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise milepost.Misuse(f"{str(path)!r} cannot be read: {why}", "name a UTF-8 text file") from error
