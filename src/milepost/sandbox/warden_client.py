"""The host's side of the warden: launches go in, guests come out."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from milepost.core.commands import RAN_OUT_OF_TIME
from milepost.core.errors import MachineFailed
from milepost.core.machine_failure import machine_failure
from milepost.sandbox.launch import Launch
from milepost.sandbox.level_report import HowItEnded, Report
from milepost.sandbox.stall import cpu_of_guest

_START = "import sys; sys.path.insert(0, sys.argv[1]); from walls.warden import main; main()"
_WALLS = Path(__file__).parent
Welcome = Callable[[list[int]], None]

GLANCE_S = 2.0  # how often to look at a clock while a relay is silent
_PATIENCE_WITH_RELAY_S = 10.0
_PATIENCE_AT_CLOSE_S = 30.0
_CHUNK = 262_144
_MOST_LISTENERS = 64


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

    def socketpair(self) -> tuple[int, int]:
        """Two ends of a connection that descriptors can go through as well."""
        with _starting():
            ends = tuple(end.detach() for end in socket.socketpair())
        self._open.update(ends)
        return ends[0], ends[1]

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
    """A guest as the host holds it: a way to end it, and where its relay speaks. `end` is for any thread.

    `said` is what a session said, with the relay's facts, oldest first. `welcome` is given the sockets that stand
    in the guest's network namespace for the host to accept on.
    """

    def __init__(
        self, *, control: int, status: int, timeout_s: float | None = None, welcome: Welcome | None = None
    ) -> None:
        self.status = status
        self.ended_for: HowItEnded | None = None
        self._due = math.inf if timeout_s is None else time.monotonic() + timeout_s + _PATIENCE_WITH_RELAY_S
        self._relay: int | None = None
        self.said: deque[dict[str, Any]] = deque()
        self._welcome = welcome
        self._socket = socket.socket(fileno=status)
        self._control: int | None = control
        self._lock = threading.Lock()
        self._unfinished = b""
        self._facts: dict[str, Any] = {}

    def end(self, reason: HowItEnded) -> None:
        """Have the relay end the whole tree now; the first reason given is the one that counts."""
        with self._lock:
            if self.ended_for is None and self._control is not None:
                self.ended_for = reason
                self._due = time.monotonic() + _PATIENCE_WITH_RELAY_S
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._control, b"\n")

    def is_over(self) -> bool:
        """Whether the guest was ended, or ended itself since the last question."""
        if self.ended_for is not None:
            return True
        poller = select.poll()
        poller.register(self.status, select.POLLIN)
        while poller.poll(0):
            if not self.listen():
                return True
        return False

    def end_for_good(self) -> None:
        """End the guest of a session, and return when its whole tree is gone."""
        self.end(HowItEnded("killed", "the session was closed"))
        self.hear_it_out()
        self.close()

    def listen(self) -> bool:
        """Read what the relay has to say; False once it has said all."""
        try:
            piece, descriptors, _, _ = socket.recv_fds(self._socket, _CHUNK, _MOST_LISTENERS, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            return False
        if descriptors and self._relay is None:
            self._relay = descriptors.pop(0)
        if descriptors and self._welcome is not None:
            self._welcome(descriptors)
        *lines, self._unfinished = (self._unfinished + piece).split(b"\n")
        for line in filter(None, lines):
            facts = json.loads(line)
            if "nonce" in facts:
                self.said.append(facts)
            else:
                self._facts.update(facts)
        return bool(piece)

    def insist_on_the_end(self) -> None:
        """End the relay itself when it should have ended its guest by now; the warden then ends what it left."""
        if time.monotonic() > self._due and self._relay is not None:
            self.ended_for = self.ended_for or HowItEnded("timeout", RAN_OUT_OF_TIME)
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._relay, signal.SIGKILL)

    def hear_it_out(self) -> None:
        """Return when the relay has said all, which is when its whole tree is gone."""
        poller = select.poll()
        poller.register(self.status, select.POLLIN)
        while True:
            if poller.poll(GLANCE_S * 1000) and not self.listen():
                return
            self.insist_on_the_end()

    def cpu_s(self) -> float | None:
        """The processor time of all that the guest is and was; None where that cannot be seen."""
        return None if self._relay is None else cpu_of_guest(self._relay)

    def report(self) -> Report:
        return Report.of(self._facts)

    def close(self) -> None:
        with self._lock:
            if self._control is not None:
                os.close(self._control)
                self._socket.close()
                self._control = None
                if self._relay is not None:
                    os.close(self._relay)


class Launcher(Protocol):
    """Starts guests somewhere, with copies of `descriptors` as their 0, 1, 2 and so on."""

    def launch(self, launch: Launch, descriptors: tuple[int, ...], welcome: Welcome | None = None) -> Guest: ...
    def close(self) -> None: ...


class Warden:
    """Starts guests through one warm process, which is started when first needed and again if it was lost.

    `held` are descriptors that stay open until nothing that was started here runs any more, even when the host dies.
    With an `interpreter` it can fork sessions too: it runs in that one, and has imported what they mostly need.
    """

    def __init__(self, held: tuple[int, ...] = (), *, interpreter: Path | None = None) -> None:
        self._held = held
        self._interpreter = interpreter
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._closed = False

    def launch(self, launch: Launch, descriptors: tuple[int, ...], welcome: Welcome | None = None) -> Guest:
        """Start a guest with copies of `descriptors` as its 0, 1, 2 and so on."""
        text = launch.to_json()
        with Descriptors() as handed_over, _starting():
            control, control_writer = handed_over.pipe()
            status_reader, status = handed_over.socketpair()
            launch_file = handed_over.adopt(os.memfd_create("launch"))
            written = 0
            while written < len(text):
                written += os.write(launch_file, text[written:])
            self._send((launch_file, control, status, *descriptors))
            control, status = handed_over.release(control_writer), handed_over.release(status_reader)
            return Guest(control=control, status=status, timeout_s=launch.timeout_s, welcome=welcome)

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
        start = ["-c", _START, str(_WALLS), str(theirs.fileno())]
        argv = [sys.executable, "-I", "-S", *start]
        if self._interpreter is not None:
            argv = [str(self._interpreter), "-I", "-S", "-X", "utf8", *start, "warm"]
        return subprocess.Popen(
            argv,
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
        failure = machine_failure(problem, what) or MachineFailed(
            f"{what}: {problem}", "continue with: milepost resume"
        )
        raise failure from problem
