"""The web command: the page of a run, live or over, on this machine."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

import milepost
from milepost.cli.arguments import Roadmap
from milepost.cli.exit_codes import INTERRUPTED
from milepost.cli.worker import Database

if TYPE_CHECKING:
    from rich.console import Console

    from milepost.web.serve import Served
    from milepost.web.setup import WebWish

OPENING_S: Final = 10.0  # how long the demonstration waits for somebody to watch
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(web)


def web(
    roadmap: Roadmap = None,
    run: Annotated[
        str | None, typer.Option(metavar="ID", help="The run that it opens with. Default: the newest.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help="The page's port, 0 for any. Default: 8780, or the next that is free.",
        ),
    ] = None,
    preview_port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="The port of previews, 0 for any. Default: 8880, or the next."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on; others than this are not encrypted.")
    ] = "127.0.0.1",
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="What browsers call it through a tunnel: https://host.example.")
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The built app: its folder, or http://localhost:PORT. Default: dist, build/web, public, site.",
        ),
    ] = None,
    no_open: NoOpen = False,
    database: Database = None,
) -> None:
    """Show a run in the browser, live or finished: what is done with proof, what failed, what waits, what it cost."""
    require_page()
    from milepost.web.setup import WebWish

    wish = WebWish(
        roadmap=roadmap,
        database=database,
        run=run,
        host=host,
        port=port,
        preview_port=preview_port,
        url=url,
        app=app,
    )
    serve(wish, opens=not no_open)


def require_page() -> None:
    """Raise unless all that the page needs is installed."""
    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "pygments")):
        raise milepost.MilepostError("what serves the page is not installed", "pip install 'milepost[web]'")
    from milepost.web.libraries import missing

    what, _, advice = missing().partition(": ")
    if what:
        raise milepost.MilepostError(what, advice)


def serve(wish: WebWish, *, opens: bool) -> None:
    """Serve until a signal."""
    import asyncio

    from milepost.web.serve import serve as serving

    def ready(served: Served) -> None:
        tell(served, wish)
        if opens:
            open_browser(served.url)

    asyncio.run(serving(wish, ready, lambda: None))


def demonstrate(folder: Path | None, console: Console, *, opens: bool) -> int:
    """The demonstration with its page beside it; both stay until a signal."""
    require_page()
    from milepost.cli.show import demo as show_demo
    from milepost.web.serve import serving_beside
    from milepost.web.setup import WebWish

    with ExitStack() as held:

        def show(roadmap: Path) -> None:
            wish = WebWish(roadmap=roadmap)
            beside = held.enter_context(serving_beside(wish))
            tell(beside.served, wish)
            if opens:
                open_browser(beside.served.url)
                beside.opened.wait(OPENING_S)

        code = show_demo.tell(folder, console, show)
        if code != INTERRUPTED:
            typer.echo("\nthe page stays until Ctrl-C", err=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    return code


def tell(served: Served, wish: WebWish) -> None:
    """Say where the page is opened, and what to know of it."""
    run = f"run {served.run}" if served.run else "nothing was run yet"
    typer.echo(f"milepost web · {run} · {served.url}")
    typer.echo("this address opens the page once, for 5 minutes; run again for another; Ctrl-C ends it", err=True)
    for line in remarks(served.port, wish):
        typer.echo(line, err=True)


def remarks(port: int, wish: WebWish) -> list[str]:
    """What a person should know who did not ask for it."""
    from milepost.serving.listen import local
    from milepost.web.addresses import PAGE_PORT

    lines = []
    if wish.port is None and port != PAGE_PORT:
        lines.append(f"port {PAGE_PORT} is taken, so the page is on {port}")
    if not local(wish.host):
        lines.append(f"warning: whoever reaches {wish.host} can read what goes to and fro; a tunnel would be encrypted")
    if wish.app and (wish.url or not local(wish.host)):
        lines.append("previews are shown on this machine alone: --app is left out")
    return lines


def open_browser(url: str) -> None:
    """Open an address where there is a browser to see it in; that there is none is no news."""
    shown = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")) or sys.platform == "darwin"
    if os.geteuid() != 0 and shown:
        threading.Thread(target=_opened, args=(url,), daemon=True).start()


def _opened(url: str) -> None:
    import webbrowser

    with suppress(webbrowser.Error, OSError):
        webbrowser.open(url)
