"""Whether something takes connections: a dependency, or the control target that tells whether the watcher is blind."""

from __future__ import annotations

import asyncio
import socket
import time

from milepost.core.shipping import Measurement


class ConnectionProbe:
    """Measures `up@NAME`."""

    def __init__(self, name: str, host: str, port: int, *, timeout_s: float = 1.0) -> None:
        self._name, self._host, self._port, self._timeout_s = name, host, port, timeout_s

    async def sample(self) -> tuple[Measurement, ...]:
        at, up = time.time(), 0.0
        try:
            async with asyncio.timeout(self._timeout_s):
                _, writer = await asyncio.open_connection(self._host, self._port)
            writer.close()
            up = 1.0
        except (OSError, TimeoutError):
            pass
        return (Measurement(metric=f"up@{self._name}", value=up, at=at),)


class ControlTarget:
    """A port of our own on loopback: when not even this answers, the watcher sees nothing."""

    name = "control"

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=16)
        self._probe = ConnectionProbe(self.name, "127.0.0.1", self._socket.getsockname()[1])

    async def sample(self) -> tuple[Measurement, ...]:
        found = await self._probe.sample()
        self._socket.setblocking(False)
        try:
            while True:
                self._socket.accept()[0].close()
        except OSError:  # nobody is left in its queue
            return found

    def close(self) -> None:
        self._socket.close()
