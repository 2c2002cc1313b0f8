"""The command line as a process that need not import the program first; in all else it is what it always is."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from milepost.engine.chaos.nursery import WARM, Birth, Life, Nursery

START = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
# Variables that neither the interpreter nor an import looks at.
SEEN_LATER = {"PATH", "HOME", "COLUMNS", "XDG_CACHE_HOME", "ANTHROPIC_BASE_URL"}
SEEN_LATER_TOO = re.compile(r"MILEPOST_\w+|GIT_\w+|\w+_API_KEY")
MODULES = (
    *WARM,
    *(f"milepost.engine.records.{name}" for name in ("check_logs", "gates", "retention", "steering")),
    *(f"milepost.engine.views.{name}" for name in ("attempts", "status")),
    *(f"milepost.engine.workers.{name}" for name in ("dispatch", "submit", "worker")),
    *(f"milepost.engine.{name}" for name in ("budget.costs", "commands.verify", "projects.atomic", "undo.undo")),
    *(f"milepost.cli.show.{name}" for name in ("events", "failures", "log", "plan", "proof", "status", "verify")),
    *("milepost.api.roadmaps", "milepost.roadmap.dialects.status_signs", "milepost.roadmap.dialects.table"),
    *("rich.console", "rich.table", "rich.live"),
    *("typer._adapters", "pydantic.dataclasses", "importlib.readers", "encodings.unicode_escape"),
)

_open: list[Nursery] = []


@contextmanager
def nursery() -> Iterator[None]:
    """While it lasts, processes are begun from a nursery."""
    with Nursery({**START, "HOME": "/nonexistent"}, MODULES) as begun:
        _open.append(begun)
        try:
            yield
        finally:
            _open.remove(begun)


@pytest.fixture(scope="session")
def nursed() -> Iterator[None]:
    """Whoever asks for it starts the command line warm, and so do all after it."""
    with nursery():
        yield


def is_possible(environ: Mapping[str, str]) -> bool:
    """Whether a process with these variables would be the same, had it imported the program itself."""
    others = {name for name in {*START, *environ} if START.get(name) != environ.get(name)}
    return bool(_open) and all(name in SEEN_LATER or SEEN_LATER_TOO.fullmatch(name) for name in others)


class Process(subprocess.Popen[str]):
    """A process of the nursery, with its output in pipes."""

    def __init__(self, words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        self.args, self.returncode, self.stdin = ("milepost", *words), None, None
        out, err = os.pipe(), os.pipe()
        self.stdout, self.stderr = os.fdopen(out[0]), os.fdopen(err[0])
        birth = Birth(words=words, folder=folder, environ=environ, stdin=0, stdout=out[1], stderr=err[1])
        try:
            self._life: Life = _open[-1].begin(birth)
        finally:
            os.close(out[1])
            os.close(err[1])
        self.pid = self._life.pid
        self._readers = [_Reader(stream) for stream in (self.stdout, self.stderr)]

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._life.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.returncode = self._life.wait(timeout)
        if self.returncode is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002 -- Popen's
        until = time.monotonic() + (timeout or threading.TIMEOUT_MAX)
        for reader in self._readers:
            reader.begin()
        for reader in self._readers:
            reader.join(max(0, until - time.monotonic()))
        if timeout and any(reader.is_alive() for reader in self._readers):
            raise subprocess.TimeoutExpired(self.args, timeout)
        self.wait(timeout and max(0, until - time.monotonic()))
        said, told = (reader.text for reader in self._readers)
        return said, told


class _Reader(threading.Thread):
    """Reads a pipe to its end, from when somebody wants it."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._stream = stream

    def begin(self) -> None:
        if self.ident is None:
            self.start()

    def run(self) -> None:
        with self._stream:
            self.text = self._stream.read()
