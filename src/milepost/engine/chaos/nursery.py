"""The nursery: a process that has imported the program once, and forks each life from there.

Most of a short life is the import of what it needs. A life that is forked has that done already, and nothing else:
no thread, no open file, no state. It runs the command line as a user's process does, in a session of its own.

    whoever asks → nursery → watcher → life

A watcher waits for one life and tells how it ended, so that lives may be many at a time.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
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
    *(
        "milepost.api.runs",
        "milepost.engine.run.workflows",
        "milepost.engine.run.start",
        "milepost.agents.replay.cassette_file",
    ),
    *("milepost.cli.main", "milepost.cli.run_live", "milepost.cli.live_display"),
    # What the database of a run is used by when it is opened.
    *("dbos._sys_db_sqlite", "sqlalchemy.dialects.sqlite"),
)
_START = f"from {__name__} import main; main({{parent}}, {{control}})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """What a life is to be: a command line, where, with which variables, and its three streams as descriptors."""

    words: Sequence[str]
    folder: Path
    environ: Mapping[str, str]
    stdin: int
    stdout: int
    stderr: int


class Nursery:
    """Begins lives. `environ` is what the interpreter starts with, `warm` are the modules that it imports."""

    def __init__(self, environ: Mapping[str, str] | None = None, warm: Sequence[str] = WARM) -> None:
        self._environ = environ
        self._warm = warm

    def __enter__(self) -> Nursery:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START.format(parent=os.getpid(), control=theirs.fileno()), *self._warm],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()

    def begin(self, birth: Birth) -> Life:
        """Begin a life; its descriptors are its own afterwards and may be closed here."""
        asked = {"words": [*birth.words], "folder": str(birth.folder), "environ": dict(birth.environ)}
        line, theirs = socket.socketpair()
        try:
            with theirs:
                streams = (birth.stdin, birth.stdout, birth.stderr)
                socket.send_fds(self._control, [b"."], [theirs.fileno(), *streams])
            line.sendall(json.dumps(asked).encode() + b"\n")
            return Life(line)
        except OSError:
            line.close()
            raise _lost() from None


class Life:
    """One process of a run, from its start to its end or its kill; its id is nobody else's until it was waited for."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._code: int | None = None
        self.pid = self._told()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """How it ended, as a negative number by which signal; None when it goes on after so long."""
        if self._code is None and select.select([self._line], [], [], timeout_s)[0]:
            self._code = self._told()
            with self._line, suppress(OSError):
                self._line.sendall(b"seen\n")
                self._line.recv(1)  # nothing: its watcher has ended, and with it all that was left of the process
        return self._code

    def kill(self, *, group: bool = False) -> None:
        """kill -9, alone or with all that is in its group."""
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, signal.SIGKILL)

    def _told(self) -> int:
        line = _read_line(self._line)
        if not line:
            self._line.close()
            raise _lost()
        return int(line)


def _lost() -> MachineFailed:
    return MachineFailed("the process that starts the runs has died", "run it again; the machine may be out of memory")


def main(parent: int, control: int) -> None:
    """Fork a watcher for each life that is asked for, until nobody can ask any more."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked for the lives ends them
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a watcher
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    me, asking = os.getpid(), socket.socket(fileno=control)
    while (received := socket.recv_fds(asking, 1, 4))[0]:
        line, *streams = received[1]
        if os.fork() == 0:
            asking.close()
            _watch(me, socket.socket(fileno=line), streams)
            return  # as the life
        for descriptor in (line, *streams):
            os.close(descriptor)


def _watch(nursery: int, line: socket.socket, streams: Sequence[int]) -> None:
    """Have a life, tell its process id and how it ended; it is let go when that was seen. Returns only in the life."""
    die_with(nursery)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked = json.loads(_read_line(line))
    me = os.getpid()
    pid = os.fork()
    if pid == 0:
        line.close()
        _live(me, asked, streams)
        return
    for descriptor in streams:
        os.close(descriptor)
    _tell(line, pid)
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    with suppress(OSError):  # whoever asked is gone
        _tell(line, ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
        _read_line(line)
    os.waitpid(pid, 0)
    os._exit(0)


def _live(watcher: int, asked: dict[str, object], streams: Sequence[int]) -> None:
    """Become the life that was asked for."""
    die_with(watcher)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, given in enumerate(streams):
        os.dup2(given, descriptor)
        os.close(given)
        _reopen(descriptor)
    environ = asked["environ"]
    assert isinstance(environ, dict) and isinstance(asked["words"], list)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(str(asked["folder"]))
    sys.argv = ["milepost", *asked["words"]]
    runpy.run_module("milepost", run_name="__main__", alter_sys=True)


def _reopen(descriptor: int) -> None:
    """Begin one of the three streams anew: what it is now, a pipe or a file, decides how it is read or written."""
    name = ("stdin", "stdout", "stderr")[descriptor]
    was = getattr(sys, name)
    by_line = 1 if name == "stderr" or os.isatty(descriptor) else -1
    stream = open(descriptor, was.mode, by_line, encoding=was.encoding, errors=was.errors, closefd=False)  # noqa: SIM115
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def _read_line(line: socket.socket) -> bytes:
    """One line, empty at the end of all; nothing follows a line before it is answered."""
    read = b""
    while not read.endswith(b"\n") and (more := line.recv(65_536)):
        read += more
    return read


def _tell(line: socket.socket, number: int) -> None:
    line.sendall(f"{number}\n".encode())
