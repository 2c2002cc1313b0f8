"""The modules of the page as they are written, run in a browser by themselves: no server of ours, no node."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from milepost.web import libraries

if TYPE_CHECKING:
    from playwright.sync_api import Page

STATIC = libraries.HERE / "static"
EMPTY = b"<!doctype html><html lang=en><title>modules</title><main></main></html>"
POLICY = "default-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"


class Modules:
    """Calls what the modules export, in a page where nothing else was loaded."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self._address = address
        page.goto(address)

    def call(self, module: str, function: str, argument: object = None) -> Any:
        """What comes of a function in JavaScript that is given the module and the argument, which is plain JSON.

        `call("format.js", "(format, cents) => format.money(cents)", 5)`
        """
        words = f"([name, argument]) => import(name).then(module => ({function})(module, argument))"
        return self.page.evaluate(words, [f"/static/{module}", argument])

    def afresh(self) -> None:
        """Forget all that the modules remember."""
        self.page.goto(self._address)


class Server(ThreadingHTTPServer):
    """Takes all connections of a browser at once, also where it comes to accept them late."""

    daemon_threads = True
    request_queue_size = 128


@contextmanager
def static_server() -> Iterator[str]:
    """The address of an empty page that may import the modules, under a policy as strict as the real page's."""
    server = Server(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


class Files(SimpleHTTPRequestHandler):
    """The files of the page, and an empty page that has none of them."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *words: Any) -> None:
        super().__init__(*words, directory=str(STATIC))

    def do_GET(self) -> None:
        if self.path != "/":
            self.path = self.path.removeprefix("/static")
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)
        return None

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""
