"""Sessions that stand behind their walls before anybody asks for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from milepost.sandbox.session import CodeSession


class Pool:
    """Keeps `spares` sessions of one kind ready: to open one is to take it. For one thread at a time."""

    def __init__(self, make: Callable[[], CodeSession], spares: int) -> None:
        self._make = make
        self._spares = spares
        self._ready: deque[CodeSession] = deque()

    def take(self) -> CodeSession:
        """A session that nobody used."""
        return self._unused() or self._make()

    def refill(self) -> None:
        """Begin what is missing; it grows ready by itself. For a moment at which nobody waits for a session."""
        while len(self._ready) < self._spares:
            self._ready.append(self._make())

    def close(self) -> None:
        while self._ready:
            self._ready.popleft().close()

    def _unused(self) -> CodeSession | None:
        while self._ready:
            session = self._ready.popleft()
            if not session.is_over():
                return session
            session.close()
        return None
