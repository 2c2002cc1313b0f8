"""Having a run begun in a process of its own while other requests are served; one that nobody waits for is stopped."""

from __future__ import annotations

import subprocess
from contextlib import suppress

import anyio
import anyio.abc
import anyio.to_thread

from milepost.api.detached.request import DetachedStart, StartRequest
from milepost.api.detached.start import LONGEST_ANSWER, PATIENCE_S, PROGRAM, environment_for, result_of
from milepost.serving.concurrency_limit import AtOnce

MOST_AT_ONCE = 4  # each is a process that imports the whole program
_starting = AtOnce(MOST_AT_ONCE)


async def depart(request: StartRequest) -> DetachedStart:
    """Start a process for the request; returns what it reports of the start.

    The process starts outside the repository, so that files there cannot shadow our modules.
    """
    async with _starting.places:
        environment = await anyio.to_thread.run_sync(environment_for, request)
        process = await anyio.open_process(
            PROGRAM, cwd="/", env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        )
        async with process:
            answer = b""
            with anyio.move_on_after(PATIENCE_S) as patience:
                answer = await _answer(process, request.model_dump_json(exclude_defaults=True).encode())
    return result_of(answer, in_time=not patience.cancelled_caught)


async def _answer(process: anyio.abc.Process, wish: bytes) -> bytes:
    """The line that a process says to a wish; nothing where it ends without one."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(anyio.BrokenResourceError):
        await process.stdin.send(wish)
        await process.stdin.aclose()
    found = b""
    while b"\n" not in found and len(found) < LONGEST_ANSWER:
        try:
            found += await process.stdout.receive()
        except anyio.EndOfStream:
            return b""
    return found.partition(b"\n")[0]
