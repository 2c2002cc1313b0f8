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
from milepost.cli.exit_codes import DONE, INTERRUPTED
from milepost.cli.output import print_lines
from milepost.cli.worker import Database

if TYPE_CHECKING:
    from rich.console import Console

    from milepost.web.serve import Served
    from milepost.web.setup import WebWish

OPENING_S: Final = 10.0  # how long the demonstration waits for somebody to watch
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address without opening a browser.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(web)


def web(
    roadmap: Roadmap = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="The run to show first. Default: the latest.")] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help="The port; 0 for any. Default: 8780, or the next free one.",
        ),
    ] = None,
    preview_port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="The port for previews; 0 for any. Default: 8880, or the next free one."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on. Traffic to any other address is not encrypted."
        ),
    ] = "127.0.0.1",
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The public address when used through a tunnel: https://host.example."),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The built app: a folder, or http://localhost:PORT. Default: dist, build/web, public or site.",
        ),
    ] = None,
    no_open: NoOpen = False,
    fetch_libraries: Annotated[
        bool, typer.Option("--fetch-libraries", help="Only get the page's libraries, with npm, if they are missing.")
    ] = False,
    database: Database = None,
) -> None:
    """Show a run in the browser, live or finished: results with proof, failures, open questions, costs."""
    if fetch_libraries:
        raise typer.Exit(complete_page())
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
        raise milepost.MilepostError("the packages for the web page are not installed", "pip install 'milepost[web]'")
    from milepost.web.libraries import missing

    what, _, advice = missing().partition(": ")
    if what:
        raise milepost.MilepostError(what, advice)


def complete_page() -> int:
    """Fetch the libraries of the page, unless they are there."""
    from milepost.web import libraries

    if libraries.missing():
        return libraries.main()
    print_lines("the libraries of the page are already there")
    return DONE


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
            print_lines("\nthe page is served until Ctrl-C", err=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    return code


def tell(served: Served, wish: WebWish) -> None:
    """Say where the page is opened, and what to know of it."""
    run = f"run {served.run}" if served.run else "no runs yet"
    print_lines(f"milepost web · {run} · {served.url}")
    print_lines("this address works once, within 5 minutes; run again for a new one; Ctrl-C stops the server", err=True)
    for line in remarks(served.port, wish):
        print_lines(line, err=True)


def remarks(port: int, wish: WebWish) -> list[str]:
    """What a person should know who did not ask for it."""
    from milepost.serving.listen import local
    from milepost.web.addresses import PAGE_PORT

    lines = []
    if wish.port is None and port != PAGE_PORT:
        lines.append(f"port {PAGE_PORT} is in use, so the page is on {port}")
    if not local(wish.host):
        lines.append(f"warning: traffic to {wish.host} is not encrypted and others can read it; use a tunnel")
    if wish.app and (wish.url or not local(wish.host)):
        lines.append("previews work only on this machine: --app is ignored")
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
