"""Serving the page and its previews until a signal: two servers in one process, on names that share nothing."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Final

from starlette.types import ASGIApp

import milepost
from milepost import events, roadmaps, runs
from milepost.serving.httpd import Httpd, ending_on_signals
from milepost.serving.listen import in_address, local
from milepost.serving.warnings import tell_on_stderr
from milepost.web.addresses import outer_origin, page_socket, port_of, preview_sockets
from milepost.web.login_keys import Keys, Secret
from milepost.web.page_facts import PageFacts, run_named
from milepost.web.preview import Names
from milepost.web.setup import House, WebWish, site_of

FAREWELL_S: Final = 1  # an open stream would be waited for without end


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a page is opened, once; the run that it begins with, empty where nothing was run; how to end it."""

    url: str = field(repr=False)
    run: str
    port: int
    stop: Callable[[], None]


async def serve(wish: WebWish, ready: Callable[[Served], None], on_opened: Callable[[], None]) -> None:
    """Serve until SIGINT, SIGTERM or cancellation, or until it is stopped; `on_opened` hears of each who is let in."""
    tell_on_stderr("milepost web")
    with ExitStack() as held:
        stream = held.enter_context(events.open_stream(wish.roadmap, database=wish.database))
        roadmap = roadmaps.find(wish.roadmap)
        outside = (outer_origin(wish.url),) if wish.url else ()
        listening = held.enter_context(page_socket(wish.host, wish.port))
        others = held.enter_context(preview_sockets(wish.preview_port)) if local(wish.host) and not outside else []
        secret = Secret(roadmap)
        names = Names.of(port_of(others[0]), secret.value) if others else None
        house = House(
            site=site_of(wish, roadmap, stream, names),
            names=names,
            origins=(f"http://{in_address(wish.host)}:{port_of(listening)}", *outside),
            secret=secret,
        )
        keys, run, doors = Keys(), run_named(house.site, ""), Doors()

        def tell() -> None:
            url = f"{house.origins[-1]}/open?key={keys.new()}"
            ready(Served(url=url, run=run, port=house.port, stop=doors.close))

        threading.Thread(target=_warm, args=(house.site,), daemon=True).start()
        doors.open(house.previews(), others)
        doors.open(house.page(keys, on_opened), [listening], tell)
        await doors.until_closed()


def _warm(site: PageFacts) -> None:
    """Ask what a page asks first, so that what the library needs for it is there when somebody does."""
    with suppress(milepost.MilepostError):
        runs.files(None, site.roadmap, database=site.database)
        runs.plan(None, site.roadmap, database=site.database)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A page that is served on a thread beside something else, and whether somebody was let in."""

    served: Served
    opened: threading.Event


@contextmanager
def serving_beside(wish: WebWish) -> Iterator[Beside]:
    """Serve a page meanwhile, on a thread of its own; what keeps it from being served is raised here."""
    started: SimpleQueue[Served | BaseException] = SimpleQueue()
    opened = threading.Event()

    def work() -> None:
        try:
            asyncio.run(serve(wish, started.put, opened.set))
        except BaseException as error:
            started.put(error)

    thread = threading.Thread(target=work, name="milepost web", daemon=True)
    thread.start()
    served = started.get()
    if isinstance(served, BaseException):
        raise served
    try:
        yield Beside(served=served, opened=opened)
    finally:
        served.stop()
        thread.join(FAREWELL_S * 3)


class Doors:
    """Servers that end together."""

    def __init__(self) -> None:
        self._servers: list[tuple[Httpd, list[socket.socket]]] = []

    def open(self, app: ASGIApp | None, sockets: list[socket.socket], ready: Callable[[], None] = lambda: None) -> None:
        """Have an app served there; none where there is none to serve."""
        if app is not None:
            self._servers.append((Httpd(app, ready, farewell_s=FAREWELL_S), sockets))

    def close(self) -> None:
        """End all of them soon; from another thread, too."""
        for server, _ in self._servers:
            server.stop()

    async def until_closed(self) -> None:
        """Serve until a signal, `close` or cancellation."""
        serving = asyncio.gather(*(server.serve(sockets=sockets) for server, sockets in self._servers))
        try:
            with ending_on_signals(self.close):
                await asyncio.shield(serving)
        except asyncio.CancelledError:
            self.close()
            await serving
            raise
