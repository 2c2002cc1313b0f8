"""The server on stdin and stdout: nothing else is printed there, and it ends when its client goes."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, BinaryIO, cast

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

from milepost.mcp.request_limit import Crowd, Incoming, Outgoing

LONGEST_MESSAGE = 4 * 1024 * 1024
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


async def serve_stdio(server: MCPServer[dict[str, Any]]) -> None:
    """Serve the client at the other end of stdin and stdout until it goes, or until a signal ends it."""
    low = server._lowlevel_server  # whose streams are ours to bound; `run_stdio_async` takes none
    loop = asyncio.get_running_loop()
    with anyio.CancelScope() as serving:
        for number in STOPS:
            loop.add_signal_handler(number, serving.cancel)
        lines = Lines(_private_stdin(), loop)
        try:
            async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (reading, writing):
                crowd = Crowd()
                incoming, outgoing = Incoming(reading, writing, crowd), Outgoing(writing, crowd)
                await low.run(incoming, outgoing, low.create_initialization_options())
        except* BrokenPipeError:
            pass  # the client went without a word


class Lines:
    """The lines of a stream, read by a thread that keeps nobody from ending; one that is too long is as none."""

    def __init__(self, stream: BinaryIO, loop: asyncio.AbstractEventLoop) -> None:
        self._stream = stream
        self._loop = loop
        self._room = threading.Semaphore(64)  # lines that wait to be taken
        self._taken: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="milepost mcp stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._taken.get()) is not None:
            self._room.release()
            yield line

    def _read(self) -> None:
        with suppress(RuntimeError, OSError):  # the loop is closed, or the stream: nobody listens
            while line := self._stream.readline(LONGEST_MESSAGE):
                if line.isspace():
                    continue
                self._room.acquire()
                self._give(line.decode("utf-8", "replace") if self._is_whole(line) else "too long\n")
        with suppress(RuntimeError):
            self._give(None)

    def _is_whole(self, line: bytes) -> bool:
        """Whether a line came to its end; the rest of one that is too long is skipped."""
        if line.endswith(b"\n") or len(line) < LONGEST_MESSAGE:
            return True
        while (rest := self._stream.readline(LONGEST_MESSAGE)) and not rest.endswith(b"\n"):
            pass
        return False

    def _give(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._taken.put_nowait, line)


def _private_stdin() -> BinaryIO:
    """The client's end of stdin, out of the reach of what is started from here, which reads nothing there."""
    private = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    return os.fdopen(private, "rb")
