"""The terminal: commands run behind walls, the kernel's at either level or those of containers."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line, Stream, TrustLevel
from milepost.sandbox.capture_output import FLOOD_BYTES, Capture, LineCutter
from milepost.sandbox.egress.launch import Outlet
from milepost.sandbox.launch import Prepare, Surroundings, launch_of, users_home
from milepost.sandbox.level_report import ENFORCED_BY_HOST, HowItEnded, how_it_ended
from milepost.sandbox.stall import Stall
from milepost.sandbox.visible_paths import Missing
from milepost.sandbox.warden_client import GLANCE_S, Descriptors, Guest, Launcher, Warden

_CHUNK = 65_536
_OBJECTED = HowItEnded("killed", "ended by its caller")
_STOPPED = HowItEnded("killed", "ended together with the run")


class WalledTerminal:
    """Runs commands behind walls, each with its whole tree of processes ended with it. Safe to share by threads.

    `held_fds` stay open until nothing started here runs any more, even when this process dies. `extra_readable` may be
    read by every command. `in_checkouts` says that commands run in checkouts: elsewhere `.git` is not theirs to change.
    """

    def __init__(
        self,
        *,
        trust: TrustLevel = TrustLevel.ISOLATED,
        held_fds: tuple[int, ...] = (),
        extra_readable: tuple[Path, ...] = (),
        in_checkouts: bool = False,
        home: Path | None = None,
        launcher: Launcher | None = None,
        prepare: Prepare = launch_of,
    ) -> None:
        self._launcher = launcher or Warden(held_fds)
        self._prepare = prepare
        self._around = Surroundings(
            home=home or users_home(), trust=trust, readable=extra_readable, in_checkouts=in_checkouts
        )
        self._lock = threading.Lock()
        self._running: set[Guest] = set()
        self._stopped = False
        self._closed = False

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        """Run to the end, whatever that is; lines go to `on_line` in the calling thread as they come."""
        started = time.monotonic()
        if self._stopped:
            return _without_output(_STOPPED, started)
        launch = self._prepare(command, self._around)
        if isinstance(launch, Missing):
            return _without_output(HowItEnded("not_started", launch.reason), started)
        with Outlet(launch) as outlet, Descriptors() as descriptors:
            conversation = _Conversation(command, descriptors, on_line)
            guest = self._launcher.launch(outlet.launch, conversation.guest_ends, outlet.connect)
            descriptors.close(*conversation.guest_ends)
            with self._known(guest):
                conversation.follow(guest)
        done = conversation.result(guest, started)
        taken_away = launch.guard.clear() if launch.guard is not None else ()
        return replace(done, refused=(*done.refused, *outlet.refused, *taken_away))

    def stop(self) -> None:
        """End every command that runs and start none from now on; each returns at once as `killed`."""
        with self._lock:
            self._stopped = True
            self._end_running()

    def close(self) -> None:
        """End everything; returns when nothing is left running. To run a command afterwards is a mistake."""
        with self._lock:
            self._closed = True
            self._end_running()
        self._launcher.close()

    def __enter__(self) -> WalledTerminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end_running(self) -> None:
        for guest in self._running:
            guest.end(_STOPPED)

    @contextlib.contextmanager
    def _known(self, guest: Guest) -> Iterator[None]:
        with self._lock:
            self._running.add(guest)
            if self._stopped or self._closed:
                guest.end(_STOPPED)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(guest)
            guest.close()


class _Conversation:
    """The host's part while one command runs: feeds its input, drains its output, watches for silence and floods."""

    def __init__(self, command: Command, descriptors: Descriptors, on_line: Callable[[Line], None] | None) -> None:
        self._command = command
        self._descriptors = descriptors
        self._on_line = on_line
        self._unfed = memoryview(command.stdin.encode(errors="replace"))
        stdout, stdout_writer = descriptors.pipe()
        stderr, stderr_writer = descriptors.pipe()
        self._stdout = _Drain("stdout", stdout, command.output_bytes)
        self._stderr = _Drain("stderr", stderr, command.output_bytes)
        self._stdin: int | None = None
        if self._unfed:
            stdin, self._stdin = descriptors.pipe()
        else:
            stdin = descriptors.nothing()
        self.guest_ends = (stdin, stdout_writer, stderr_writer)
        self._objection: BaseException | None = None

    def follow(self, guest: Guest) -> None:
        """Return when the relay has reported and all output is read."""
        drains = (self._stdout, self._stderr)
        heard_at = time.monotonic()
        stall = Stall(self._command.stall_timeout_s, guest.cpu_s)
        with selectors.DefaultSelector() as selector:
            for drain in drains:
                os.set_blocking(drain.descriptor, False)
                selector.register(drain.descriptor, selectors.EVENT_READ, drain)
            selector.register(guest.status, selectors.EVENT_READ)
            if self._stdin is not None:
                os.set_blocking(self._stdin, False)
                selector.register(self._stdin, selectors.EVENT_WRITE)
            while True:
                ready = selector.select(min(self._patience(heard_at), GLANCE_S))
                for key, _ in ready:
                    if isinstance(key.data, _Drain):
                        heard_at = time.monotonic()
                        stall.heard(heard_at)
                        if not self._take(key.data, guest):
                            selector.unregister(key.fd)
                    elif key.fd == self._stdin and not self._feed(key.fd):
                        selector.unregister(key.fd)
                        self._descriptors.close(key.fd)
                if not ready and self._patience(heard_at) <= 0:
                    guest.end(HowItEnded("idle", f"said nothing for {self._command.idle_timeout_s:g} s"))
                    heard_at = time.monotonic()
                if stall.is_over(time.monotonic()):
                    guest.end(HowItEnded("idle", stall.words))
                guest.insist_on_the_end()
                if any(key.fd == guest.status for key, _ in ready) and not guest.listen():
                    break
        # Nothing of the tree is left to write more; a stranger that was handed the pipe is not waited for.
        for drain in drains:
            with contextlib.suppress(BlockingIOError):
                while self._take(drain, guest):
                    pass
        if self._objection is not None:
            raise self._objection

    def result(self, guest: Guest, started: float) -> CommandResult:
        report = guest.report()
        how = how_it_ended(report, guest.ended_for)
        if how.termination == "not_started":
            return _without_output(how, started)
        return CommandResult(
            termination=how.termination,
            exit_code=report.exit_code if how.termination == "exited" else None,
            stdout=self._stdout.capture.text(),
            stderr=self._stderr.capture.text(),
            duration_ms=_since(started),
            enforced=(*report.applied, *ENFORCED_BY_HOST),
            error=how.error,
            refused=report.refused,
        )

    def _patience(self, heard_at: float) -> float:
        idle_s = self._command.idle_timeout_s
        return math.inf if idle_s is None else max(0.0, heard_at + idle_s - time.monotonic())

    def _feed(self, stdin: int) -> bool:
        """Write what fits; False when there is nothing more to write, or nobody to read it."""
        try:
            self._unfed = self._unfed[os.write(stdin, self._unfed[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._unfed)

    def _take(self, drain: _Drain, guest: Guest) -> bool:
        """Read a piece of output and pass it on; False at its end."""
        piece = os.read(drain.descriptor, _CHUNK)
        drain.capture.feed(piece)
        if drain.capture.total > FLOOD_BYTES:
            guest.end(HowItEnded("output", f"wrote more than {FLOOD_BYTES} bytes to {drain.stream}"))
        if self._on_line is not None:
            for text in drain.cutter.feed(piece, last=not piece):
                self._tell(Line(stream=drain.stream, text=text), guest)
        return bool(piece)

    def _tell(self, line: Line, guest: Guest) -> None:
        """Pass a line on. Whoever raises at it has heard enough: the guest is ended, and its end is waited for."""
        if self._on_line is None or self._objection is not None:
            return
        try:
            self._on_line(line)
        except BaseException as objection:
            self._objection = objection
            guest.end(_OBJECTED)


class _Drain:
    """One stream of output: where it is read, what is kept of it, how it is cut into lines."""

    def __init__(self, stream: Stream, descriptor: int, limit: int) -> None:
        self.stream: Stream = stream
        self.descriptor = descriptor
        self.capture = Capture(limit)
        self.cutter = LineCutter()


def _without_output(how: HowItEnded, started: float) -> CommandResult:
    return CommandResult(
        termination=how.termination,
        exit_code=None,
        stdout="",
        stderr="",
        duration_ms=_since(started),
        enforced=(),
        error=how.error,
    )


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
