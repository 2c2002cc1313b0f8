"""A server that says what a test tells it to, and keeps what a page asks of it: the page alone is on trial."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.web.modules import _Files

BEGAN = 1_800_000_000.0
Answer = tuple[int, dict[str, Any]]


class Stage:
    """One run as a page is told it. `tell` adds events to it; `asked` are the changes that were asked for."""

    def __init__(self) -> None:
        self.address = ""
        self.epoch = "e1"
        self.rows: list[list[Any]] = []
        self.alive = True
        self.now = BEGAN
        self.facts: dict[str, Any] = {}
        self.plan: dict[str, Any] = {"tasks": [], "phases": [], "findings": []}
        self.task: dict[str, Any] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refusals: dict[str, Answer] = {}
        self.up = True
        self._changed = threading.Condition()

    def tell(self, *events: dict[str, Any], apart_s: float = 1.0) -> None:
        """Add events, one some time after the other."""
        with self._changed:
            for event in events:
                self.now += apart_s
                self.rows.append([len(self.rows) + 1, self.now, event])
            self._changed.notify_all()

    def stop(self) -> None:
        """No process works on the run any more."""
        with self._changed:
            self.alive = False
            self._changed.notify_all()

    def break_off(self) -> None:
        """End all streams, and answer nobody."""
        with self._changed:
            self.up = False
            self._changed.notify_all()

    def hello(self) -> dict[str, Any]:
        """What a stream begins with."""
        return {
            "epoch": self.epoch,
            "run": self.facts.get("run", ""),
            "now": self.now,
            "alive": self.alive,
            "fresh": True,
            "floor": 0,
            "older": False,
            "preview": None,
            "facts": self.facts or None,
            "roadmap": "ROADMAP.md",
            "folder": "/home/ada/dur",
            "version": "0",
        }

    def stream(self) -> Iterator[str]:
        """The lines of a stream from its beginning, for as long as somebody listens."""
        yield f"event: hello\ndata: {json.dumps(self.hello())}\n\n"
        told, alive = 0, self.alive
        while self.up:
            with self._changed:
                rows, alive_now = self.rows[told : told + 500], self.alive
                if not rows and alive_now == alive:
                    self._changed.wait(0.5)
                    continue
            if rows:
                batch = {"after": told, "events": rows}
                told += len(rows)
                yield f"id: {self.epoch}:{told}\ndata: {json.dumps(batch)}\n\n"
            if alive_now != alive:
                alive = alive_now
                yield f"event: alive\ndata: {json.dumps({'alive': alive, 'now': self.now})}\n\n"

    def answer(self, path: str, words: dict[str, list[str]]) -> dict[str, Any] | None:
        """What a question is answered with."""
        if path == "/api/runs":
            return {"runs": [self.facts] if self.facts else [], "now": self.now}
        if path == "/api/plan":
            return self.plan
        if path == "/api/task":
            return {"task": words["task"][0], **self.task}
        return None

    def change(self, path: str, body: dict[str, Any]) -> Answer:
        """What a change is answered with, and that it was asked for."""
        self.asked.append((path, body))
        return self.refusals.get(path, (200, {"ok": True, "said": "done"}))


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage that is served until the test ends."""
    with staged() as served:
        yield served


@contextmanager
def staged() -> Iterator[Stage]:
    """A stage that is served, with the address of its page."""
    stage = Stage()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(stage))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    stage.address = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield stage
    finally:
        stage.break_off()
        server.shutdown()
        server.server_close()


def _handler(stage: Stage) -> type[_Files]:
    class Handler(_Files):
        def do_GET(self) -> None:  # noqa: N802
            url = urlsplit(self.path)
            if not stage.up:
                self.close_connection = True
            elif url.path == "/api/stream":
                self._stream()
            elif url.path.startswith("/api/"):
                known = stage.answer(url.path, parse_qs(url.query))
                self._say(200 if known is not None else 404, known or {"error": "not found"})
            else:
                self.path = "/index.html" if url.path == "/" else url.path
                super().do_GET()

        def do_POST(self) -> None:  # noqa: N802
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._say(*stage.change(unquote(urlsplit(self.path).path), body))

        def _say(self, status: int, answer: dict[str, Any]) -> None:
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self._send([content])

        def _stream(self) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self._send(words.encode() for words in stage.stream())

        def _send(self, parts: Iterable[bytes]) -> None:
            try:
                self.end_headers()
                for part in parts:
                    self.wfile.write(part)
                    self.wfile.flush()
            except OSError:
                self.close_connection = True  # the page is gone

    return Handler
