"""The server that Prefect needs."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measuring import NotThere

STARTING_S = 180.0
# The server ends when we do, however we do: our end of the pipe is closed then.
GUARD = '"$@" </dev/null >server.log 2>&1 & cat >/dev/null; kill -TERM $! 2>/dev/null; wait'


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs: its database, and the variables by which it is found."""

    place: str
    env: dict[str, str]


@contextmanager
def prefect_server(python: str, folder: Path) -> Iterator[Server]:
    """A Prefect server on a free port, with all that it keeps below a folder."""
    folder.mkdir()
    address = f"127.0.0.1:{_free_port()}"
    env = {
        "PREFECT_HOME": str(folder),
        "PREFECT_API_URL": f"http://{address}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    host, port = address.split(":")
    words = [python, "-m", "prefect", "server", "start", "--host", host, "--port", port, "--no-ui", "--analytics-off"]
    guard = subprocess.Popen(
        ["sh", "-c", GUARD, "sh", *words],
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _wait_for(f"http://{address}/api/health", folder / "server.log")
        yield Server(place=str(folder / "prefect.db"), env=env)
    finally:
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait()


def _wait_for(url: str, log: Path) -> None:
    until = time.monotonic() + STARTING_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > until:
                said = log.read_text(errors="replace").strip().splitlines()[-1:]
                raise NotThere(f"its server does not start: {' '.join(said)[:200]}") from None
            time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
