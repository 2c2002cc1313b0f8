"""A clock that does something when a time has come, unless it is told before that it need not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Alarm:
    """One thread that waits for one moment after another: setting it costs microseconds, a thread each would not."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._at: float | None = None
        self._action: Callable[[], None] = lambda: None
        self._wakes_at: float | None = None
        self._closed = False

    @contextmanager
    def set(self, seconds: float, action: Callable[[], None]) -> Iterator[None]:
        """Call `action` from another thread once the `with` has lasted so long."""
        with self._changed:
            self._at, self._action = time.monotonic() + seconds, action
            if self._thread is None:
                self._thread = threading.Thread(target=self._wait, name="milepost-alarm", daemon=True)
                self._thread.start()
            elif self._wakes_at is None or self._at < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._at = None

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _wait(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                if self._at is not None and now >= self._at:
                    self._at = None
                    self._action()
                self._wakes_at = self._at
                self._changed.wait(None if self._at is None else min(self._at - now, threading.TIMEOUT_MAX))
