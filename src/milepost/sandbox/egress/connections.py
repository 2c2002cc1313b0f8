"""The connections of one guest: so many at a time, and all ended with it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

MOST_AT_ONCE = 64
_PATIENCE_AT_CLOSE_S = 2.0


class Connections:
    """Accepts on listeners, each connection in a thread of its own, until it is closed."""

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._closed = False

    def accept_on(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        """Serve every connection to `listener`, which is ours to close from now on."""
        listener.setblocking(True)
        self._in_thread(self._accept, listener, serve)

    @contextlib.contextmanager
    def held(self, connection: socket.socket) -> Iterator[socket.socket]:
        """Keep a connection open for the length of the `with`, unless all are closed meanwhile."""
        with connection:
            with self._lock:
                if self._closed:
                    raise ConnectionAbortedError("the guest has ended")
                self._open.add(connection)
            try:
                yield connection
            finally:
                with self._lock:
                    self._open.discard(connection)

    def close(self) -> None:
        """End every connection, and wait a little for the threads; one that waits for a name ends when it has it."""
        with self._lock:
            self._closed = True
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            threads = tuple(self._threads)
        deadline = time.monotonic() + _PATIENCE_AT_CLOSE_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _accept(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        with contextlib.suppress(OSError), self.held(listener):
            while True:
                self._room.acquire()
                try:
                    connection = listener.accept()[0]
                except BaseException:
                    self._room.release()
                    raise
                self._in_thread(self._serve, connection, serve)

    def _serve(self, connection: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        try:
            with contextlib.suppress(OSError), self.held(connection):
                serve(connection)
        finally:
            self._room.release()

    def _in_thread(self, target: Callable[..., None], *arguments: object) -> None:
        def work() -> None:
            try:
                target(*arguments)
            finally:
                with self._lock:
                    self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=work, name="milepost-egress", daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()
