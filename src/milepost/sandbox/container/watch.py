"""Waiting for the first reason to end a container; until then what is said is passed on."""

from __future__ import annotations

import math
import os
import select
import socket
import time
from collections.abc import Callable, Mapping

from milepost.sandbox.walls.frames import tell
from milepost.sandbox.walls.session_relay import SessionRelay

Reason = tuple[str, str]
_LONGEST_POLL_S = 3600.0  # the kernel counts milliseconds in an int
_LAST_MOMENTS_MS = 1000


class Vigil:
    """Watches the program that is attached to a container, and the host. A reason is a word for it and what to say."""

    def __init__(self, host: socket.socket, attached: int, control: int) -> None:
        self._host = host
        self._gone = os.pidfd_open(attached)
        self._poller = select.poll()
        self._actions: dict[int, Callable[[], Reason | None]] = {}
        self._talk: SessionRelay | None = None
        self._channel: socket.socket | None = None
        self._serve(self._gone, lambda: ("guest", ""))
        self._serve(control, lambda: ("host", ""))

    def __enter__(self) -> Vigil:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._gone)
        if self._channel is not None:
            self._channel.close()

    def receive(self, door: socket.socket, facts: Mapping[str, object], *, questions: int, output: int) -> None:
        """Let a session in when it knocks, hand it the pipe for its output, and put the host's questions to it.

        The host is told the facts then.
        """

        def let_in() -> None:
            self._poller.unregister(door)
            self._channel, _ = door.accept()
            socket.send_fds(self._channel, [b"o"], [output])
            self._talk = SessionRelay(_ToHost(self._host), 0, questions, self._channel, None)
            self._serve(self._channel.fileno(), self._hear_the_guest)
            self._serve(questions, self._hear_the_host)
            tell(self._host, **facts)

        self._serve(door.fileno(), let_in)

    def wait(self, timeout_s: float | None) -> Reason:
        deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            for descriptor, _ in self._poller.poll(min(left_s, _LONGEST_POLL_S) * 1000):
                if reason := self._actions[descriptor]():
                    return reason
        return "timeout", ""

    def _serve(self, descriptor: int, action: Callable[[], Reason | None]) -> None:
        self._actions[descriptor] = action
        self._poller.register(descriptor, select.POLLIN)

    def _hear_the_host(self) -> Reason | None:
        assert self._talk is not None
        if not self._talk.hear_the_host():
            return "host", ""
        self._expect_of_the_guest()
        return None

    def _hear_the_guest(self) -> Reason | None:
        assert self._talk is not None
        if flaw := self._talk.hear_the_guest():
            return ("guest", "") if self._ends_by_itself() else flaw
        self._expect_of_the_guest()
        return None

    def _expect_of_the_guest(self) -> None:
        assert self._talk is not None
        events = select.POLLIN | (select.POLLOUT if self._talk.has_more_to_say else 0)
        self._poller.modify(self._talk.channel, events)

    def _ends_by_itself(self) -> bool:
        """Whether a guest that can say no more is just about to end."""
        poller = select.poll()
        poller.register(self._gone, select.POLLIN)
        return bool(poller.poll(_LAST_MOMENTS_MS))


class _ToHost:
    """Says facts to the other thread of this process, which listens."""

    def __init__(self, host: socket.socket) -> None:
        self._host = host

    def tell(self, **facts: object) -> None:
        tell(self._host, **facts)
