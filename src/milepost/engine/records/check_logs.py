"""The whole output of what checks ran, compressed, named by its content."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line, ending_in_words
from milepost.core.ports import Terminal
from milepost.core.verdict import CheckResult

MOST_BYTES = 200_000_000
SIGNED = re.compile(r"^[0-9a-f]{32}[.+].*\n?", re.MULTILINE)  # what runners of ours tell the engine alone


class Logs:
    """A folder of logs. What is kept twice is one file; the oldest go when there are too many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, text: str) -> str:
        """Keep a log, and give its name; empty where there is no state directory to keep it in."""
        if not self._folder.parent.is_dir():
            return ""  # nothing was ever run here, and looking makes no state directory
        content = text.encode("utf-8", errors="replace")
        name = hashlib.sha256(content).hexdigest()[:24]
        path = self._path(name)
        if not path.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            half.write_bytes(gzip.compress(content, compresslevel=6, mtime=0))
            half.replace(path)
        return name

    def read(self, name: str) -> str | None:
        """A log by its name; None where it was never kept here, or is gone by now."""
        if not name.isalnum():  # a name from a note that somebody else wrote is no path
            return None
        try:
            return gzip.decompress(self._path(name).read_bytes()).decode("utf-8", errors="replace")
        except (OSError, EOFError, gzip.BadGzipFile):
            return None

    def sweep(self, most_bytes: int = MOST_BYTES) -> None:
        """Remove the oldest logs, and halves of logs, until the rest is small enough."""
        if not self._folder.is_dir():
            return
        ours = (path for path in self._folder.iterdir() if path.suffix != ".jsonl")  # those are the logs of whole runs
        found = sorted(((path.stat(), path) for path in ours), key=lambda row: -row[0].st_mtime)
        total = 0
        for facts, path in found:
            total += facts.st_size
            if total > most_bytes or path.suffix != ".gz":
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.gz"


class LoggingTerminal:
    """Runs commands on another terminal and remembers, for each thread, what they printed, secrets taken out."""

    def __init__(self, terminal: Terminal, logs: Logs, redact: Callable[[str], str] = str) -> None:
        self._terminal = terminal
        self._logs = logs
        self._redact = redact
        self._said = threading.local()

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        around: Callable[[Terminal], Terminal] | None = getattr(self._said, "around", None)
        terminal = around(self._terminal) if around else self._terminal
        result = terminal.run(command, on_line)
        ending = ending_in_words(result, program=command.argv[0], timeout_s=command.timeout_s)
        printed = SIGNED.sub("", result.stdout) if command.lines_are_signed else result.stdout
        parts = (f"$ {shlex.join(command.argv)}", printed, result.stderr, f"[{ending}, {result.duration_ms} ms]")
        self._pending().append(self._redact("\n".join(part.rstrip("\n") for part in parts if part)))
        return result

    @contextmanager
    def told_by(self, around: Callable[[Terminal], Terminal]) -> Iterator[None]:
        """Have what this thread runs meanwhile told by a terminal around the one that it runs on."""
        self._said.around = around
        try:
            yield
        finally:
            self._said.around = None

    def collect(self) -> str:
        """The name of the log of all that this thread ran since the last call; empty when that is nothing."""
        said, self._said.parts = self._pending(), []
        return self._logs.keep("\n\n".join(said) + "\n") if said else ""

    def forget(self) -> None:
        """Keep nothing of what this thread ran so far."""
        self._said.parts = []

    def _pending(self) -> list[str]:
        parts: list[str] | None = getattr(self._said, "parts", None)
        if parts is None:
            parts = self._said.parts = []
        return parts


def logs_of(checks: tuple[CheckResult, ...], logs: Logs) -> tuple[tuple[str, str], ...]:
    """The name and the whole log of each check that has one, or the end of it where only that is left."""
    texts = ((check.name, (logs.read(check.log_id) if check.log_id else None) or check.log) for check in checks)
    return tuple((name, text) for name, text in texts if text.strip())
