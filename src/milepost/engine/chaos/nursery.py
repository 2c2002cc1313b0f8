"""The nursery: a process that has imported the program once, and forks each life from there.

Most of a short life is the import of what it needs. A life that is forked has that done already, and nothing else:
no thread, no open file, no state. It runs the command line as a user's process does, in a session of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from milepost.core.errors import MachineFailed
from milepost.sandbox.walls.confine import die_with

WARM = (
    *("milepost.api", "milepost.engine.run", "milepost.engine.start", "milepost.agents.cassette_file"),
    *("milepost.cli.main", "milepost.cli.travel", "milepost.cli.live"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """What a life is to be: a command line, where, with which variables, and where its two outputs go."""

    words: Sequence[str]
    folder: Path
    environ: Mapping[str, str]
    stdout: Path
    stderr: Path


class Nursery:
    """Begins lives, one at a time."""

    def __enter__(self) -> Nursery:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main({os.getpid()})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.told()  # that it is ready
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self, birth: Birth) -> Life:
        """Begin a life; the one before must have ended."""
        asked = {
            "words": [*birth.words],
            "folder": str(birth.folder),
            "environ": dict(birth.environ),
            "stdout": str(birth.stdout),
            "stderr": str(birth.stderr),
        }
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        except BrokenPipeError:
            raise _lost() from None
        return Life(self, int(self.told()))

    def told(self, timeout_s: float | None = None) -> str:
        """The next line of the nursery, empty when none comes within the time."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], timeout_s)[0]:
            return ""
        line: bytes = self._process.stdout.readline()
        if not line:
            raise _lost()
        return line.decode().strip()


class Life:
    """One process of a run, from its start to its end or its kill."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self.pid = pid

    def wait(self, timeout_s: float | None = None) -> int | None:
        """How it ended, as a negative number by which signal; None when it goes on after so long."""
        told = self._nursery.told(timeout_s)
        return int(told) if told else None

    def kill(self, *, group: bool = False) -> None:
        """kill -9, alone or with all that is in its group."""
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, signal.SIGKILL)


def _lost() -> MachineFailed:
    return MachineFailed("the process that begins the lives is gone", "run it again; the machine may be out of memory")


def main(parent: int) -> None:
    """Fork a life for each line of stdin; tell its process id, and then how it ended."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked for the lives ends them
    for name in WARM:
        importlib.import_module(name)
    _tell(os.getpid())
    while line := _line():
        me = os.getpid()
        pid = os.fork()
        if pid == 0:
            _live(me, json.loads(line))
            return
        _tell(pid)
        _tell(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _live(parent: int, asked: dict[str, object]) -> None:
    """Become the life that was asked for."""
    die_with(parent)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    new = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for descriptor, (path, flags) in enumerate(
        ((os.devnull, os.O_RDONLY), (str(asked["stdout"]), new), (str(asked["stderr"]), new))
    ):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, descriptor)
        os.close(opened)
    environ = asked["environ"]
    assert isinstance(environ, dict) and isinstance(asked["words"], list)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(str(asked["folder"]))
    sys.argv = ["milepost", *asked["words"]]
    runpy.run_module("milepost", run_name="__main__", alter_sys=True)


def _line() -> bytes:
    """One line of stdin, empty at its end; nothing follows a line before it is answered."""
    line = b""
    while not line.endswith(b"\n") and (more := os.read(0, 65_536)):
        line += more
    return line


def _tell(number: int) -> None:
    os.write(1, f"{number}\n".encode())
