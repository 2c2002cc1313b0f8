"""A server of ours in a process of its own, as clients find it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MILEPOST_MCP = (sys.executable, "-m", "milepost", "mcp")
CONFORMANCE = (sys.executable, "-m", "tests.mcp.conformance_server")
LONGEST_S = 60
HAPPENS_S = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a server listens, and its process."""

    url: str
    process: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    def stop(self) -> int:
        """End it as a service manager would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LONGEST_S)


@contextmanager
def served(*command: str, cwd: Path = ROOT, **environment: str) -> Iterator[Served]:
    """Start a server that prints its address in its first line, and have nothing left of it at the end."""
    with started(command or CONFORMANCE, cwd, environment, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        if not url.startswith("http://"):
            raise RuntimeError(f"the server did not start: it printed {url!r} and ended with {process.wait(LONGEST_S)}")
        yield Served(url=url, process=process)


@contextmanager
def started(
    command: tuple[str, ...], cwd: Path, environment: dict[str, str], stdin: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours in a session of its own, all of which is killed at the end."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=stdin,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(LONGEST_S)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def memory_kb(pid: int) -> int:
    """How much of the machine's memory a process holds."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


def descendants(pid: int) -> set[int]:
    """All that a process started, and what those started."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(") ")[2].split()
            if fields[0] != "Z":
                parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, open_ends = set[int](), [pid]
    while open_ends:
        children = parents.get(open_ends.pop(), [])
        found.update(children)
        open_ends += children
    return found


def awaited(happened: Callable[[], object], what: str) -> None:
    """Wait until something happened, far less long than code may run that nobody ends."""
    end = time.monotonic() + HAPPENS_S
    while not happened():
        assert time.monotonic() < end, f"this did not happen: {what}"
        time.sleep(0.05)
