"""`milepost web` in a process of its own, as a user starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Cookie, Page

ROOT: Final = Path(__file__).resolve().parents[2]
MILEPOST_WEB: Final = (sys.executable, "-m", "milepost", "web", "--no-open", "--port")  # which one comes last
LONGEST_S: Final = 180
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/open\?key=\S+")


class Served:
    """A server of the page on the run of a folder. It may be ended, killed and started again on the same port."""

    def __init__(self, folder: Path, command: Sequence[str] = MILEPOST_WEB) -> None:
        self._folder, self._command = folder, command
        self.port = 0
        self._cookies: list[Cookie] = []
        self.start()

    def start(self) -> None:
        """Start it, on the port that it had before; what it prints is in `printed`."""
        self.printed: list[str] = []
        self.process = subprocess.Popen(
            [*self._command, str(self.port)],
            cwd=self._folder,
            env=os.environ
            | {"PYTHONPATH": str(ROOT / "src"), "HOME": str(self._folder.parent), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.address = self._read_address()
        # Nobody reads the rest while it runs, and a full pipe would stop it.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def origin(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}"

    def enter(self, page: Page, fragment: str = "") -> Page:
        """Show the run in a page: by the printed address, which is good once, then by the cookie that it gave."""
        if self._cookies:
            page.context.add_cookies([{**cookie} for cookie in self._cookies])  # type: ignore[typeddict-item]
        else:
            page.goto(self.address)
            page.wait_for_url(lambda address: "/open" not in address)
            self._cookies = page.context.cookies()
        page.goto(f"{self.origin}/{fragment}")
        return page

    def stop(self) -> int:
        """End it as a person or a service manager would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._gone()

    def kill(self) -> None:
        """End it at once, with all that it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self._gone()

    def _gone(self) -> int:
        code = self.process.wait(LONGEST_S)
        self._reader.join(LONGEST_S)
        return code

    def _read_address(self) -> str:
        assert self.process.stdout is not None
        too_late = threading.Timer(LONGEST_S, self.process.kill)
        too_late.start()
        try:
            for line in self.process.stdout:
                self.printed.append(line)
                if found := _ADDRESS.search(line):
                    self.port = int(found[1])
                    return found[0]
        finally:
            too_late.cancel()
        ended = self.process.wait(LONGEST_S)
        self.process.stdout.close()
        raise RuntimeError(f"the server did not start: it ended with {ended} and printed {''.join(self.printed)!r}")

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            self.printed.extend(pipe)


@contextmanager
def served(folder: Path, command: Sequence[str] = MILEPOST_WEB) -> Iterator[Served]:
    """Start a server, and have nothing left of it at the end."""
    server = Served(folder, command)
    try:
        yield server
    finally:
        server.kill()
