"""A private libSQL server for the tests: on a free port, in a folder of its own; to be killed, frozen, started anew."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.errors import MilepostError
from milepost.store.libsql import LibsqlServer
from tests.live.installed import needed
from tests.postgres import PATIENCE_S


class Sqld:
    """One server process; what it was told stays when it is killed."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        words = ["--db-path", str(self._folder / "rows"), "--http-listen-addr", f"127.0.0.1:{self._port}"]
        log = (self._folder / "log").open("ab")
        with log:
            # It dies with the thread that started it, so that none is left when tests are killed.
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", str(self._program), *words, "--no-welcome"],
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE_S
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                said = (self._folder / "log").read_text(errors="replace")
                raise RuntimeError(f"sqld does not start: {said[-2000:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        assert self._process is not None
        hold_still(self._process.pid)

    def thaw(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def empty(self) -> None:
        """Lose everything, as a server that was set up anew."""
        self.kill()
        shutil.rmtree(self._folder / "rows")
        self.start()

    def _answers(self) -> bool:
        server = LibsqlServer(self.url)
        try:
            return server.read("select 1") == [(1,)]
        except MilepostError:
            return False
        finally:
            server.close()


@pytest.fixture
def sqld(tmp_path: Path) -> Iterator[Sqld]:
    folder = tmp_path / "sqld"
    folder.mkdir()
    server = Sqld(needed("sqld"), folder)
    server.start()
    yield server
    server.kill()


def hold_still(pid: int) -> None:
    """Stop a process; on return none of its threads runs."""
    os.kill(pid, signal.SIGSTOP)
    while not all(_is_stopped(thread) for thread in Path(f"/proc/{pid}/task").iterdir()):
        time.sleep(0.001)


def _is_stopped(thread: Path) -> bool:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0] in "Tt"
