"""A stage for the page: the page as it is served, and whatever answers a test wants it to get, as late as it wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.web.modules import POLICY, STATIC

Event = Mapping[str, Any]
Answer = Callable[[dict[str, str]], Any]

EPOCH = "e1"
RUN = "7f3a"
BEGAN = 1_763_370_000.0
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


class Stage:
    """What the page is told and answered; `asked` is what it asked for, `changes` what it wanted changed."""

    def __init__(self, events: list[Event], answers: Mapping[str, Answer]) -> None:
        self.answers = dict(answers)
        self.alive = True
        self.older = False
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.changes: list[tuple[str, dict[str, Any]]] = []
        self.refusal: dict[str, str] | None = None
        self.address = ""
        self._events = list(events)
        self._told = threading.Condition()
        self._over = False

    def tell(self, *events: Event) -> None:
        """Let more happen."""
        with self._told:
            self._events += events
            self._told.notify_all()

    def close(self) -> None:
        with self._told:
            self._over = True
            self._told.notify_all()

    def hello(self) -> dict[str, Any]:
        """What a stream says first."""
        facts = {"run": RUN, "started_at": BEGAN, "finished_at": None, "left_at": None, "ended": False, "agent": "tool"}
        return {
            "epoch": EPOCH, "run": RUN, "now": BEGAN + len(self._events), "alive": self.alive, "fresh": True,
            "floor": 0, "older": self.older, "preview": None, "facts": facts, "roadmap": "ROADMAP.md", "folder": "dur",
        }  # fmt: skip

    def batches(self) -> Iterator[tuple[int, list[Any]]]:
        """The events so far, then those that come, each with its place and its time."""
        sent = 0
        while not self._over:
            new = self._since(sent)
            yield sent, [[sent + at, BEGAN + sent + at, {"run": RUN, **event}] for at, event in enumerate(new, 1)]
            sent += len(new)

    def _since(self, sent: int) -> list[Event]:
        with self._told:
            self._told.wait_for(lambda: self._over or len(self._events) > sent)
            return self._events[sent:]


@contextmanager
def staged(events: list[Event], answers: Mapping[str, Answer]) -> Iterator[Stage]:
    """A stage under an address of its own."""
    stage = Stage(events, {"/api/plan": lambda _: PLAN, "/api/runs": lambda _: {"runs": [], "now": BEGAN}, **answers})
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"stage": stage}))
    server.daemon_threads = True
    stage.address = f"http://127.0.0.1:{server.server_address[1]}/"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield stage
    finally:
        stage.close()
        server.shutdown()
        server.server_close()


PLAN: dict[str, Any] = {"tasks": [], "phases": [], "findings": []}


class _Handler(BaseHTTPRequestHandler):
    stage: Stage
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, words = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
        if path == "/api/stream":
            return self._stream()
        if not path.startswith("/api/"):
            return self._file("index.html" if path == "/" else path.removeprefix("/static/"))
        self.stage.asked.append((path, words))
        answer = self.stage.answers.get(path)
        found = answer(words) if answer else None
        return self._json(200, found) if found is not None else self._json(404, {"error": "nothing is known of it"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.stage.changes.append((urlsplit(self.path).path, body))
        if self.stage.refusal:
            return self._json(409, self.stage.refusal)
        return self._json(200, {"ok": True, "said": "it was taken"})

    def _stream(self) -> None:
        self.close_connection = True
        self._head(200, "text/event-stream")
        try:
            self._send(f"event: hello\ndata: {json.dumps(self.stage.hello())}\n\n")
            for after, events in self.stage.batches():
                message = json.dumps({"after": after, "events": events})
                self._send(f"id: {EPOCH}:{after + len(events)}\ndata: {message}\n\n")
        except OSError:
            pass  # the page was closed

    def _file(self, name: str) -> None:
        file = STATIC / name
        if not file.is_file():
            return self._json(404, {})
        return self._answer(200, KINDS.get(file.suffix, "application/octet-stream"), file.read_bytes())

    def _json(self, status: int, answer: object) -> None:
        self._answer(status, "application/json", json.dumps(answer).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        try:
            self._head(status, kind, len(body))
            self.wfile.write(body)
        except OSError:
            pass  # an answer that comes late may find nobody

    def _head(self, status: int, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def _send(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""
