"""What the keeper of a guest does while it lives: serves it, and waits for the first reason to end it."""

from __future__ import annotations

import json
import math
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from . import confine
from .cgroup import Group
from .frames import FactWriter
from .porter.supervisor import Porter, Rules, real
from .process_count import Crowd
from .session_relay import SessionRelay
from .sweep import deaths_of_children, next_death
from .watchdog import Watchdog

_LONGEST_POLL_S = 3600.0  # the kernel counts milliseconds in an int
_MOST_DESCRIPTORS = 4
_LAST_MOMENTS_MS = 100
_BETWEEN_QUESTIONS_MS = 250.0


class Reason(NamedTuple):
    """Who or what ended a guest, and how one says it: `guest`, `host`, `warden`, or what it used too much of."""

    ended: str
    words: str = ""


class Ends:
    """The ends of the host's and the warden's pipes that the keeper of a guest holds."""

    def __init__(self, *, control: int, warden: int) -> None:
        self.control = control
        self.warden = warden
        self.questions: int | None = None
        self.changes: int | None = None


class GuestWatch:
    """Waits for the first reason to end a guest; until then passes on what is said, and lets the porter answer."""

    def __init__(self, wanted: dict[str, Any], host: socket.socket, ends: Ends, group: Group) -> None:
        self.group = group
        self._wanted = wanted
        self.host = FactWriter(host)
        self._ends = ends
        self._heard_of_start = b""
        # Before there is a guest, who could put links into its folders, and whose scope must be within ours.
        self._rules = _rules(wanted["rules"])
        self._porter: Porter | None = None
        self._talk: SessionRelay | None = None
        self._is_telling = False
        self._poller = select.poll()
        self._actions: dict[int, Callable[[], Reason | None]] = {}

    def begin(self, guest: int, setup: socket.socket, channel: socket.socket) -> None:
        """Turn to a guest that was just forked."""
        self._guest = guest
        self._setup = setup
        bounds = self._left_to_watch()
        self._watchdog = Watchdog(bounds, self._wanted["watched"])
        self._crowd = Crowd(bounds["processes"])
        self._gone = os.pidfd_open(guest)
        self._serve(self._gone, self._see_it_gone)
        self._serve(deaths_of_children(), self._reap_orphans)
        self._serve(self._ends.control, lambda: Reason("host"))
        self._serve(self._ends.warden, lambda: Reason("warden"))
        self._serve(setup.fileno(), self._hear_of_start)
        if self._ends.questions is not None:
            self._talk = SessionRelay(self.host, guest, self._ends.questions, channel, self._ends.changes)
            self._serve(self._ends.questions, self._hear_the_host)
            self._serve(channel.fileno(), self._hear_the_guest)

    def wait(self) -> Reason:
        """Serve the guest until there is a reason to end it."""
        timeout_s = self._wanted["timeout_s"]
        deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
        look_at = self._next_look()
        while True:
            for descriptor, _ in self._poller.poll(_patience_ms(min(deadline, look_at))):
                if reason := self._actions[descriptor]():
                    return reason
            self._expect_of_the_host()
            now = time.monotonic()
            if now >= deadline:
                return Reason("timeout")
            if now >= look_at:
                if reason := self._look():
                    return reason
                look_at = self._next_look()
            else:
                look_at = min(look_at, self._next_look())

    def last_facts(self) -> dict[str, Any]:
        """What is known of the guest, for when its tree is gone."""
        while self._read_setup():
            pass
        facts = {**self._start_facts(), "peak_bytes": self._watchdog.peak_bytes or self.group.peak_bytes()}
        if self._porter is not None:
            facts["refused"] = self._porter.refused
        return facts

    def _serve(self, descriptor: int, action: Callable[[], Reason | None]) -> None:
        self._actions[descriptor] = action
        self._poller.register(descriptor, select.POLLIN)

    def _left_to_watch(self) -> dict[str, Any]:
        """The bounds that no wall of the kernel holds."""
        bounds = dict(self._wanted["bounds"])
        if "cgroup-memory" in self.group.names:
            bounds["memory_mb"] = None
        if "cgroup-pids" in self.group.names or "nproc" in self._wanted["rlimits"]:
            bounds["processes"] = None
        return bounds

    def _see_it_gone(self) -> Reason:
        if self._talk is not None:
            self._talk.hear_the_guest()  # its last words
        if self.group.oom_killed():
            return Reason("memory", f"used more than {self._wanted['bounds']['memory_mb']} MB of memory")
        return Reason("guest")

    def _ends_by_itself(self) -> bool:
        """Whether a guest that can say no more is just about to end."""
        poller = select.poll()
        poller.register(self._gone, select.POLLIN)
        return bool(poller.poll(_LAST_MOMENTS_MS))

    def _hear_the_host(self) -> Reason | None:
        assert self._talk is not None
        if not self._talk.hear_the_host():
            return Reason("host")
        self._expect_of_the_guest()
        return None

    def _hear_the_guest(self) -> Reason | None:
        assert self._talk is not None
        if flaw := self._talk.hear_the_guest():
            return Reason("guest") if self._ends_by_itself() else Reason(*flaw)
        self._expect_of_the_guest()
        return None

    def _expect_of_the_guest(self) -> None:
        assert self._talk is not None
        events = select.POLLIN | (select.POLLOUT if self._talk.has_more_to_say else 0)
        self._poller.modify(self._talk.channel, events)

    def _expect_of_the_host(self) -> None:
        """Wait for the host to listen while there is something left to tell; a host that is gone is not waited for."""
        if self.host.has_more_to_say and not self._is_telling:
            self._actions[self.host.descriptor] = self.host.write
            self._poller.register(self.host.descriptor, select.POLLOUT)
        elif self._is_telling and not self.host.has_more_to_say:
            self._poller.unregister(self.host.descriptor)
        self._is_telling = self.host.has_more_to_say

    def _reap_orphans(self) -> None:
        """Wait for what the guest left behind, which would count among its processes for as long as it lives."""
        while (ended := next_death()) is not None and ended != self._guest:
            os.waitpid(ended, 0)

    def _hear_of_start(self) -> None:
        if not self._read_setup():
            self._poller.unregister(self._setup.fileno())
            self.host.tell(started=True, **self._start_facts())

    def _read_setup(self) -> bytes:
        """Take what the guest told on its way in, the descriptor with it that the porter listens on."""
        try:
            piece, descriptors, _, _ = socket.recv_fds(self._setup, 65536, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:  # it died on its way
            return b""
        self._heard_of_start += piece
        for listener in descriptors:
            self._porter = Porter(listener, rules=self._rules)
            self._serve(listener, self._let_the_porter_answer)
        return piece

    def _let_the_porter_answer(self) -> None:
        assert self._porter is not None
        self._porter.answer()
        if self._talk is not None:
            self._talk.refused = self._porter.refused

    def _start_facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for line in self._heard_of_start.splitlines():
            facts.update(json.loads(line))
        if "applied" in facts:
            facts["applied"].extend((*self._watchdog.names, *self._crowd.names))
        return facts

    def _look(self) -> Reason | None:
        # Counting them waits for nobody, and it is who forks that keeps the others waiting.
        excess = self._crowd.look() or self._watchdog.look()
        if excess is None and self._talk is not None:
            excess = self._talk.excess()
        return Reason(*excess) if excess else None

    def _next_look(self) -> float:
        """When the guest is to be looked at again."""
        intervals: list[float | None] = [self._watchdog.interval_ms, self._crowd.interval_ms]
        if self._talk is not None:
            intervals.append(self._talk.interval_ms)
        soonest = min((each for each in intervals if each is not None), default=math.inf)
        if self._talk is not None and not self._talk.is_asked:
            soonest = max(soonest, _BETWEEN_QUESTIONS_MS)
        return time.monotonic() + soonest / 1000


def _rules(wanted: dict[str, Any]) -> Rules:
    return Rules(
        writable=real(tuple(wanted["writable"])),
        protected=real(tuple(wanted["protected"])),
        network=wanted["network"],
        ports=tuple(wanted["ports"]),
        abstract_names=confine.scope_abstract_names(),
    )


def _patience_ms(until: float) -> float | None:
    return None if until == math.inf else min(max(0.0, until - time.monotonic()), _LONGEST_POLL_S) * 1000
