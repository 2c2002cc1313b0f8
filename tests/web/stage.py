"""A server that says what a test tells it to, as late as it wants, and keeps what a page asks of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.web.modules import Files, Server

EPOCH = "e1"
RUN = "7f3a"
BEGAN = 1_800_000_000.0
PATIENCE_S = 120
Event = Mapping[str, Any]
Answer = Callable[[dict[str, str]], Any]
Reply = tuple[int, dict[str, Any]]


def facts(**more: Any) -> dict[str, Any]:
    """What the run was asked to do."""
    return {
        "run": RUN, "started_at": BEGAN, "finished_at": None, "left_at": None, "ended": False, "agent": "tool",
        "trust": "sandboxed", "parallel": 2, "budget_usd": None, "approve": "risky", "base": "1c9e2d4", "tasks": [],
        **more,
    }  # fmt: skip


class Stage:
    """One run as a page is told it.

    `answers` are for what is asked, by its path, and `refusals` for changes. `asked` is what a page asked for,
    `changes` what it wanted changed.
    """

    def __init__(self) -> None:
        self.address = ""
        self.facts = facts()
        self.plan: dict[str, Any] = {"tasks": [], "phases": [], "findings": []}
        self.task: dict[str, Any] = {}
        self.answers: dict[str, Answer] = {
            "/api/runs": lambda _: {"runs": [self.facts], "now": self.now},
            "/api/plan": lambda _: self.plan,
            "/api/task": lambda words: {"task": words["task"], **self.task},
        }
        self.refusals: dict[str, Reply] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.changes: list[tuple[str, dict[str, Any]]] = []
        self.up = True
        self._rows: list[list[Any]] = []
        self._alive = True
        self._changed = threading.Condition()

    @property
    def now(self) -> float:
        """A second has passed with each event."""
        return BEGAN + len(self._rows)

    def tell(self, *events: Event) -> None:
        """Let more happen."""
        with self._changed:
            for event in events:
                self._rows.append([len(self._rows) + 1, self.now + 1, {"run": RUN, **event}])
            self._changed.notify_all()

    def stop(self) -> None:
        """No process works on the run any more."""
        with self._changed:
            self._alive = False
            self._changed.notify_all()

    def break_off(self) -> None:
        """End all streams, and answer nobody."""
        with self._changed:
            self.up = False
            self._changed.notify_all()

    def answer(self, path: str, words: dict[str, str]) -> Reply:
        """What a question is answered with, and that it was asked."""
        self.asked.append((path, words))
        found = self.answers[path](words) if path in self.answers else None
        return (200, found) if found is not None else (404, {"error": "nothing is known of it"})

    def change(self, path: str, body: dict[str, Any]) -> Reply:
        """What a change is answered with, and that it was asked for."""
        with self._changed:
            self.changes.append((path, body))
            self._changed.notify_all()
        return self.refusals.get(path, (200, {"ok": True, "said": "done"}))

    def asked_for(self, count: int) -> list[tuple[str, dict[str, Any]]]:
        """The changes that were asked for, once there are so many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.changes) >= count, PATIENCE_S), self.changes
            return [*self.changes]

    def stream(self) -> Iterator[str]:
        """The messages of a stream from its beginning, for as long as somebody listens."""
        told, alive = 0, self._alive
        yield f"event: hello\ndata: {json.dumps(self._hello(alive))}\n\n"
        while self.up:
            rows, alive_now = self._since(told, alive)
            if rows:
                batch = {"after": told, "events": rows}
                told += len(rows)
                yield f"id: {EPOCH}:{told}\ndata: {json.dumps(batch)}\n\n"
            if alive_now != alive:
                alive = alive_now
                yield f"event: alive\ndata: {json.dumps({'alive': alive, 'now': self.now})}\n\n"

    def _since(self, told: int, alive: bool) -> tuple[list[list[Any]], bool]:
        with self._changed:
            self._changed.wait_for(lambda: not self.up or len(self._rows) > told or self._alive != alive)
            return self._rows[told : told + 500], self._alive

    def _hello(self, alive: bool) -> dict[str, Any]:
        return {
            "epoch": EPOCH, "run": RUN, "now": self.now, "alive": alive, "fresh": True, "floor": 0, "older": False,
            "preview": None, "facts": self.facts, "roadmap": "ROADMAP.md", "folder": "/home/ada/dur", "version": "0",
        }  # fmt: skip


@contextmanager
def staged() -> Iterator[Stage]:
    """A stage that is served, with the address of its page."""
    stage = Stage()
    server = Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"stage": stage}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    stage.address = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield stage
    finally:
        stage.break_off()
        server.shutdown()
        server.server_close()


class _Handler(Files):
    stage: Stage

    def do_GET(self) -> None:  # noqa: N802
        url = urlsplit(self.path)
        if not self.stage.up:
            self.close_connection = True
        elif url.path == "/api/stream":
            self._stream()
        elif url.path.startswith("/api/"):
            self._say(*self.stage.answer(url.path, dict(parse_qsl(url.query))))
        else:
            self.path = "/index.html" if url.path == "/" else url.path
            super().do_GET()

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._say(*self.stage.change(unquote(urlsplit(self.path).path), body))

    def _say(self, status: int, reply: dict[str, Any]) -> None:
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self._send([content])

    def _stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self._send(words.encode() for words in self.stage.stream())

    def _send(self, parts: Iterable[bytes]) -> None:
        try:
            self.end_headers()
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:
            self.close_connection = True  # the page is gone, or did not wait for a late answer
