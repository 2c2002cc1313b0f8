"""A hostile site on this machine: it serves a page under any name, and notes what browsers send to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

EMPTY: Final = b"<!doctype html><html lang=en><title>another site</title><body></body></html>"


class Site(ThreadingHTTPServer):
    """Answers everything with an empty page; `cookies` is what came with requests, by the name that was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.cookies: dict[str, str] = {}

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Visit(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.cookies[self.headers["Host"].partition(":")[0]] = self.headers.get("Cookie", "")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def hostile_site() -> Iterator[Site]:
    """Such a site on a port of its own, until the end."""
    with Site() as site:
        serving = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        serving.start()
        try:
            yield site
        finally:
            site.shutdown()
            serving.join()
