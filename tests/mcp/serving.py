"""A server of ours in a process of its own, as clients find it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = (sys.executable, "-m", "milepost.mcp.conformance", "--port", "0")
LONGEST_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a server listens, and its process."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    def stop(self) -> int:
        """End it as a service manager would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LONGEST_S)

    def memory_kb(self) -> int:
        """How much of the machine's memory it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


@contextmanager
def served(*command: str) -> Iterator[Served]:
    """Start a server that prints its address in its first line, and have nothing left of it at the end."""
    process = subprocess.Popen(
        command or CONFORMANCE,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url.startswith("http://"):
            raise RuntimeError(f"the server did not start: it printed {url!r} and ended with {process.wait(LONGEST_S)}")
        yield Served(url=url, process=process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(LONGEST_S)
        assert process.stdout is not None
        process.stdout.close()
