"""The page's server in a process of its own, and a page that reads it as a browser would."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mcp.wire import Header, Reply, head, sent

ROOT = Path(__file__).resolve().parents[2]
LONGEST_S = 60
# What the page is drawn with may not be there: nothing here is drawn.
PROGRAM = "from milepost.cli import web; web.require_page = lambda: None; from milepost.cli.main import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server and the address that it printed."""

    process: subprocess.Popen[str]
    line: str

    @property
    def url(self) -> str:
        return self.line.split()[-1]

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    @property
    def key(self) -> str:
        return self.url.split("key=")[1]

    def ask(self, path: str, *headers: Header, method: str = "GET", body: bytes = b"") -> Reply:
        """What comes back for a request with these headers and no others."""
        length = [("Content-Length", str(len(body)))] if body else []
        given = (*headers, *length, ("Connection", "close"))
        return sent(self.port, head(self.port, *given, method=method, path=path) + body)

    def cookie(self) -> Header:
        """What a page is given for the key."""
        reply = self.ask(f"/open?key={self.key}")
        assert reply.status == 200
        return "Cookie", reply.headers["set-cookie"].split(";")[0]

    def stop(self) -> int:
        """End it as a service manager would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LONGEST_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LONGEST_S)


@contextmanager
def served(roadmap: Path, *words: str, port: int = 0) -> Iterator[Served]:
    """`milepost web` on a roadmap, and nothing left of it at the end."""
    command = [sys.executable, "-c", PROGRAM, "web", str(roadmap), "--no-open", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--preview-port", "0", *words],
        cwd=roadmap.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.startswith("milepost web"), f"the server did not start: {line!r}"
        yield Served(process=process, line=line)
    finally:
        process.kill()
        process.wait(LONGEST_S)
        assert process.stdout is not None
        process.stdout.close()


class Reader:
    """A page's stream: what it was told first, and the events that it has; a gap is an error, as it is for the page."""

    def __init__(self, port: int, cookie: Header, *, run: str = "", after: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_S)
        self._connection.request("GET", f"/api/stream?run={run}&after={after}", headers=dict([cookie]))
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200, self._answer.read()
        kind, _, self.hello = self._next()
        assert kind == "hello"
        self.place = "" if self.hello["fresh"] else after
        self.seq = 0 if self.hello["fresh"] else int(after.rpartition(":")[2])
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._answer.close()
        self._connection.close()

    def until(self, seq: int) -> list[int]:
        """Read until an event is there; the places of all that came."""
        while self.seq < seq:
            self.take()
        return [place for place, _ in self.events]

    def take(self) -> None:
        """Take in the next thing that is told."""
        kind, place, body = self._next()
        if kind != "message":
            self.told.append((kind, body))
            return
        assert body["after"] == self.seq, "a gap"
        self.events += [(seq, event) for seq, _, event in body["events"]]
        self.seq, self.place = self.events[-1][0], place

    def _next(self) -> tuple[str, str, dict[str, Any]]:
        kind, place, body = "message", "", ""
        while (line := self._answer.readline().decode().rstrip("\n")) or not body:
            if not line and self._answer.isclosed():
                raise EOFError("the stream has ended")
            name, _, value = line.partition(": ")
            kind, place, body = (
                value if name == "event" else kind, value if name == "id" else place, value if name == "data" else body,
            )  # fmt: skip
        return kind, place, json.loads(body)
