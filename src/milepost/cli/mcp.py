"""The mcp command: Milepost as a server of tools, for whatever program speaks the Model Context Protocol."""

from __future__ import annotations

import os
from collections.abc import Coroutine
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import milepost
from milepost.cli.output import print_lines

if TYPE_CHECKING:
    from milepost.mcp.http import Address

TOKEN = "MILEPOST_MCP_TOKEN"  # noqa: S105 - the name of a variable


class Profile(StrEnum):
    CORE = "core"
    FULL = "full"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mcp)


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdin and stdout.")] = False,
    host: Annotated[str, typer.Option(metavar="NAME", help="The address to listen on, with --http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port, with --http; 0 for any free port.")] = 0,
    profile: Annotated[Profile, typer.Option(help="Which set of tools to offer.")] = Profile.CORE,
    workspace: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The project folder. Default: this one.")
    ] = None,
    folder: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A further folder that tools may use. Repeatable."),
    ] = None,
    allow_answers: Annotated[
        bool,
        typer.Option(
            "--allow-answers",
            help="Let a client answer a run's questions for you, without your confirmation; not yes to held work.",
        ),
    ] = False,
) -> None:
    """Serve Milepost's tools to programs that speak the Model Context Protocol, such as Claude Code and Codex."""
    _require_sdk()
    if port and not http:
        raise milepost.Misuse("--port needs --http", "add --http, or leave out --port")
    further = tuple(path.absolute() for path in folder or ())
    for path in (*([workspace] if workspace else []), *further):
        if not path.is_dir():
            raise milepost.Misuse(f"there is no folder {str(path)!r}", "create it, or name another folder")
    if workspace is not None:
        os.chdir(workspace)
    from milepost.mcp.profiles import build

    server = build(profile.value, Path.cwd(), folders=further, allow_answers=allow_answers)
    if http:
        from milepost.mcp.http import serve_http

        token = os.environ.get(TOKEN) or None
        _serve(serve_http(server, host=host, port=port, token=token, on_ready=_tell))
    else:
        from milepost.mcp.stdio import serve_stdio

        _serve(serve_stdio(server))


def _serve(serving: Coroutine[Any, Any, None]) -> None:
    import asyncio

    asyncio.run(serving)


def _require_sdk() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise milepost.MilepostError("the package mcp is not installed", "pip install 'milepost[mcp]'")


def _tell(address: Address) -> None:
    """Say where the server is reached; the token is for the eyes of whoever started it."""
    print_lines(address.url)
    if address.token and not os.environ.get(TOKEN):
        print_lines(f"Authorization: Bearer {address.token}", err=True)
