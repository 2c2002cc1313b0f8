"""A private PostgreSQL cluster for the tests: on a free port, in a folder of its own, gone when they end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg
import pytest

from milepost.store.database import Database, open_database
from tests import tools

PATIENCE_S = 60.0
HOMES = "/usr/lib/postgresql"  # where Debian puts each version's programs

# Ends the server when the tests end, however they do: their end of the pipe is closed then.
GUARD = (
    'server="$1"; shift; "$server" "$@" </dev/null >>server.log 2>&1 & cat >/dev/null; kill -QUIT $! 2>/dev/null; wait'
)
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "200",
    "autovacuum": "off",
    "logging_collector": "off",
}


class Cluster:
    """A server that can be stopped, started again and restarted; `fresh` gives the address of an empty database."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._port = _free_port()
        self._numbers = count(1)
        self._guard: subprocess.Popen[bytes] | None = None
        words = ["--no-sync", "--auth=trust", "--username=milepost", "--encoding=UTF8", "--no-locale"]
        subprocess.run(
            [*_as_another_user(folder), str(programs / "initdb"), *words, f"--pgdata={folder / 'data'}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def start(self) -> None:
        """Start the server and wait until it answers; nothing happens when it runs."""
        if self._guard is not None:
            return
        settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        listens = ["-clisten_addresses=127.0.0.1", f"-cport={self._port}", f"-cunix_socket_directories={self._folder}"]
        server = [str(self._programs / "postgres"), "-D", str(self._folder / "data"), *listens, *settings]
        self._guard = subprocess.Popen(
            [*_as_another_user(self._folder), "sh", "-c", GUARD, "sh", *server],
            cwd=self._folder,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        until = time.monotonic() + PATIENCE_S
        while not self._answers():
            if time.monotonic() > until:
                log = (self._folder / "server.log").read_text(errors="replace")
                self.stop(at_once=True)
                raise RuntimeError(f"PostgreSQL does not start: {log[-2000:]}")
            time.sleep(0.02)

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the server, cutting off whoever is connected; `at_once` as if it had crashed."""
        if self._guard is None:
            return
        if not at_once:
            self._ask_to_stop()
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait(PATIENCE_S)
        self._guard = None

    def restart(self, *, at_once: bool = False) -> None:
        self.stop(at_once=at_once)
        self.start()

    def fresh(self) -> str:
        """The address of a database that nobody has used."""
        self.start()
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://milepost@127.0.0.1:{self._port}/{name}"

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def _ask_to_stop(self) -> None:
        pid_file = self._folder / "data/postmaster.pid"
        if pid_file.exists():
            os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)
        until = time.monotonic() + PATIENCE_S
        while pid_file.exists() and time.monotonic() < until:
            time.sleep(0.02)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The one cluster of this test process."""
    programs = _programs()
    if programs is None:
        pytest.skip(f"needs PostgreSQL: initdb is neither on PATH nor in {HOMES}/*/bin")
    tools.need(str(programs / "initdb"), str(programs / "postgres"))
    folder = Path(tempfile.mkdtemp(prefix="milepost-postgres-"))
    try:
        made = Cluster(programs, folder)
        made.start()
        yield made
        made.stop(at_once=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(cluster: Cluster) -> str:
    """The address of an empty database on a real server."""
    return cluster.fresh()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a store is kept: a file, and then a server. What holds for one must hold for the other."""
    if request.param == "sqlite":
        return tmp_path / "milepost.db"
    address: str = request.getfixturevalue("postgres")
    return address


@pytest.fixture
def database(place: Path | str) -> Iterator[Database]:
    """An empty database, in a file and on a server."""
    with closing(open_database(place)) as opened:
        yield opened


def _programs() -> Path | None:
    on_path = shutil.which("initdb")
    beside = sorted(Path(HOMES).glob("*/bin/initdb"))
    found = Path(on_path).resolve() if on_path else (beside[-1] if beside else None)
    return found.parent if found else None


def _as_another_user(folder: Path) -> list[str]:
    """The words that start a program as somebody who may run a server: it refuses to be root."""
    if os.geteuid() != 0:
        return []
    names = {user.pw_name: user for user in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
