"""The HTTP server below: uvicorn, which waits for nobody for ever and leaves signals and logs to us."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
CONNECTIONS: Final = 512
FAREWELL_S: Final = 3


class Impatient(H11Protocol):
    """Closes a connection whose next request does not begin, or whose head does not end, in time."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_a_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect_a_head()

    def _expect_a_head(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
        self._patience = self.loop.call_later(HEAD_S, self._give_up)

    def _give_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class Httpd(uvicorn.Server):
    """Serves an app on sockets that are open already, says when it does, and ends on `stop`."""

    def __init__(self, app: ASGIApp, on_ready: Callable[[], None], *, farewell_s: int = FAREWELL_S) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Impatient,
                ws="none",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=CONNECTIONS,
                timeout_graceful_shutdown=farewell_s,
            )
        )
        self._on_ready = on_ready
        logging.getLogger("uvicorn.error").addFilter(_worth_saying)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    def stop(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `ending_on_signals`; uvicorn's own would raise them again once it has ended."""
        yield


def _worth_saying(record: logging.LogRecord) -> bool:
    """Whether a person should read it: that clients who stay to the end are cut off is meant."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, asyncio.CancelledError) or record.msg.startswith("Cancel "))


@contextlib.contextmanager
def ending_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGINT and SIGTERM, in the place of what they do otherwise."""
    if threading.current_thread() is not threading.main_thread():  # where nobody hears signals
        yield
        return
    loop, heard = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in heard:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
