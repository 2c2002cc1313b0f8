"""One at a time: what is being done is not begun a second time meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import milepost


class Turns:
    """Who is at what; any thread may ask."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Hold a turn; raises where somebody else has it."""
        with self._lock:
            if name in self._taken:
                raise milepost.MilepostError("that is being done already", "wait a moment and look again")
            self._taken.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._taken.discard(name)
