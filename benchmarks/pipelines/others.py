"""The engines that we compare with: how they are installed, and the server that one of them needs."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STARTING_S = 180.0
# The server ends when we do, however we do: our end of the pipe is closed then.
GUARD = '"$@" </dev/null >server.log 2>&1 & cat >/dev/null; kill -TERM $! 2>/dev/null; wait'


class NotThere(Exception):
    """An engine cannot be had here; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs: its database, and the variables by which it is found."""

    place: str
    env: dict[str, str]


def installed(requirements: Path) -> str:
    """The Python of a folder that has these packages, made when it is not there yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "milepost-benchmarks"
    wanted = requirements.read_bytes() + sys.version.encode()
    folder = cache / hashlib.sha256(wanted).hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            print("installing what is compared with, once", flush=True)
            _run(sys.executable, "-m", "venv", str(folder))
            pip = (str(folder / "bin/python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
            _run(*pip, "--requirement", str(requirements))
            (folder / "complete").touch()
    return str(folder / "bin/python")


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


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise NotThere(f"it cannot be installed: {' '.join(said[-1:])[:200]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
