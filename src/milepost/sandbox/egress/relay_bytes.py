"""Bytes carried between two connections, both ways at once, with a bound on what is held and on silence."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterable

from milepost.sandbox.egress.request_body import Body, Endless

IDLE_S = 300.0
_CHUNK = 65_536
_MOST_HELD = 4 * _CHUNK


class Lane:
    """One direction: what `source` says, as far as `body` lets it pass, is said to `sink`."""

    def __init__(self, source: socket.socket, sink: socket.socket, body: Body | None = None) -> None:
        self.source = source
        self.sink = sink
        self._body = body or Endless()
        self._held = bytearray()
        self._ended = False
        self.carried = 0

    @property
    def wants(self) -> bool:
        """Whether there is room for more, and more to come."""
        return not self._ended and not self._body.complete and len(self._held) < _MOST_HELD

    @property
    def holds(self) -> bool:
        return bool(self._held)

    @property
    def finished(self) -> bool:
        return not self._held and (self._ended or self._body.complete)

    def fill(self) -> None:
        piece = self.source.recv(_CHUNK)
        if piece:
            self.hold(piece)
        else:
            self._ended = True
            self._pass_on_the_end()

    def drain(self) -> None:
        sent = self.sink.send(self._held)
        del self._held[:sent]
        self.carried += sent
        self._pass_on_the_end()

    def hold(self, piece: bytes) -> None:
        """Take a piece that was read already, or is read now."""
        self._held += self._body.take(piece)

    def _pass_on_the_end(self) -> None:
        if self._ended and not self._held:
            self.sink.shutdown(socket.SHUT_WR)


def carry(lanes: tuple[Lane, Lane], idle_s: float = IDLE_S) -> None:
    """Return when both lanes are finished, or nothing moved for too long; OSError when a connection broke."""
    ends = {lane.source.fileno(): lane.source for lane in lanes}
    for end in ends.values():
        end.setblocking(False)
    poller, watched = select.poll(), dict.fromkeys(ends, 0)
    while not all(lane.finished for lane in lanes):
        for descriptor in ends:
            _watch(poller, watched, descriptor, _wanted(lanes, descriptor))
        ready = poller.poll(idle_s * 1000)
        if not ready:
            return
        for descriptor, events in ready:
            _move(lanes, descriptor, events)


def _wanted(lanes: Iterable[Lane], descriptor: int) -> int:
    reads = any(lane.source.fileno() == descriptor and lane.wants for lane in lanes)
    writes = any(lane.sink.fileno() == descriptor and lane.holds for lane in lanes)
    return (select.POLLIN if reads else 0) | (select.POLLOUT if writes else 0)


def _watch(poller: select.poll, watched: dict[int, int], descriptor: int, events: int) -> None:
    """Watch for just these events; what is watched for none would be told of an end again and again."""
    if events and events != watched[descriptor]:
        poller.register(descriptor, events)
    elif not events and watched[descriptor]:
        poller.unregister(descriptor)
    watched[descriptor] = events


def _move(lanes: Iterable[Lane], descriptor: int, events: int) -> None:
    broken = events & (select.POLLERR | select.POLLHUP | select.POLLNVAL)
    for lane in lanes:
        with contextlib.suppress(BlockingIOError):
            if lane.sink.fileno() == descriptor and lane.holds and (events & select.POLLOUT or broken):
                lane.drain()
        with contextlib.suppress(BlockingIOError):
            if lane.source.fileno() == descriptor and lane.wants and (events & select.POLLIN or broken):
                lane.fill()
