"""Having a run begun in a process of its own, and hearing what came of it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import anyio
import anyio.abc

import milepost
from milepost.mcp.detached import Begun, StartWish

PROGRAM = (sys.executable, "-P", "-m", "milepost.mcp.detached")
PATIENCE_S = 50.0  # clients wait a minute for an answer
LONGEST_ANSWER = 100_000


async def depart(wish: StartWish) -> Begun:
    """Start the run that is wished for; gives what it said of its start.

    The process begins outside the repository, so that it imports nothing from there in place of our own modules.
    """
    process = await anyio.open_process(PROGRAM, cwd="/", stderr=subprocess.DEVNULL, start_new_session=True)
    async with process:
        answer = b""
        with anyio.move_on_after(PATIENCE_S) as patience:
            answer = await _answer(process, wish.model_dump_json(exclude_defaults=True).encode())
    if answer:
        return Begun.model_validate_json(answer)
    if patience.cancelled_caught:
        what, advice = f"the run did not begin within {PATIENCE_S:g} s", "run_status tells how it stands"
    else:
        what, advice = "the process of the run ended before the run began", "run_start tries again"
    raise milepost.MilepostError(what, f"{advice}; milepost run shows why")


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
