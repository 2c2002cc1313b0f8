"""The host's side of the warden: launches go in, guests come out."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from milepost.core.errors import MachineFailed
from milepost.core.machine import machine_failure
from milepost.sandbox.launch import Launch
from milepost.sandbox.report import HowItEnded, Report

_START = "import sys; sys.path.insert(0, sys.argv[1]); from walls.warden import main; main()"
_WALLS = Path(__file__).parent
_PATIENCE_AT_CLOSE_S = 30.0


class Descriptors:
    """Descriptors that are closed once each, at the latest on leaving the `with`."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        """A new pipe: the end to read from, the end to write to."""
        with _starting():
            ends = os.pipe()
        self._open.update(ends)
        return ends

    def nothing(self) -> int:
        """Where there is nothing to read."""
        with _starting():
            return self.adopt(os.open(os.devnull, os.O_RDONLY))

    def adopt(self, descriptor: int) -> int:
        self._open.add(descriptor)
        return descriptor

    def release(self, descriptor: int) -> int:
        """Leave the closing of `descriptor` to the caller."""
        self._open.remove(descriptor)
        return descriptor

    def close(self, *descriptors: int) -> None:
        for descriptor in descriptors:
            if descriptor in self._open:
                self._open.remove(descriptor)
                os.close(descriptor)

    def close_all(self) -> None:
        self.close(*self._open)

    def __enter__(self) -> Descriptors:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_all()


class Guest:
    """A guest as the host holds it: a way to end it, and where its relay will speak. `end` is for any thread."""

    def __init__(self, *, control: int, status: int) -> None:
        self.status = status
        self._control: int | None = control
        self._lock = threading.Lock()
        self._said = b""
        self.ended_for: HowItEnded | None = None

    def end(self, reason: HowItEnded) -> None:
        """Have the relay end the whole tree now; the first reason given is the one that counts."""
        with self._lock:
            if self.ended_for is None and self._control is not None:
                self.ended_for = reason
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._control, b"\n")

    def listen(self) -> bool:
        """Read what the relay has to say; False once it has said all."""
        piece = os.read(self.status, 65536)
        self._said += piece
        return bool(piece)

    def report(self) -> Report:
        return Report.from_lines(self._said)

    def close(self) -> None:
        """Let go; a guest that still runs is ended by this."""
        with self._lock:
            if self._control is not None:
                os.close(self._control)
                os.close(self.status)
                self._control = None


class Warden:
    """Starts guests through one warm process, which is started when first needed and again if it was lost.

    `held` are descriptors that stay open until nothing that was started here runs any more, even when the host dies.
    """

    def __init__(self, held: tuple[int, ...] = ()) -> None:
        self._held = held
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._closed = False

    def launch(self, launch: Launch, descriptors: tuple[int, ...]) -> Guest:
        """Start a guest with copies of `descriptors` as its 0, 1, 2 and so on."""
        text = launch.to_json()
        with Descriptors() as handed_over, _starting():
            control, control_writer = handed_over.pipe()
            status_reader, status = handed_over.pipe()
            launch_file = handed_over.adopt(os.memfd_create("launch"))
            written = 0
            while written < len(text):
                written += os.write(launch_file, text[written:])
            self._send((launch_file, control, status, *descriptors))
            return Guest(control=handed_over.release(control_writer), status=handed_over.release(status_reader))

    def close(self) -> None:
        """End the warden; returns when it and everything it started are gone."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _send(self, descriptors: tuple[int, ...]) -> None:
        with self._lock:
            if self._closed:
                raise MachineFailed("the sandbox was closed", "this is a bug in Milepost: nothing may be started now")
            try:
                socket.send_fds(self._connected(), [b"g"], descriptors)
            except (BrokenPipeError, ConnectionResetError):
                self._let_go()
                socket.send_fds(self._connected(), [b"g"], descriptors)

    def _connected(self) -> socket.socket:
        if self._socket is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs, contextlib.ExitStack() as undo:
                undo.callback(ours.close)
                self._process = self._started(theirs)
                undo.pop_all()
            self._socket = ours
        return self._socket

    def _started(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, str(_WALLS), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            pass_fds=(theirs.fileno(), *self._held),
            start_new_session=True,
        )

    def _let_go(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                self._process.wait(_PATIENCE_AT_CLOSE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Before a guest runs nothing of it can be to blame: what fails here is the machine."""
    what = "the sandbox could not start a process"
    try:
        yield
    except OSError as problem:
        failure = machine_failure(problem, what) or MachineFailed(f"{what}: {problem}", "milepost resume goes on")
        raise failure from problem
