"""Having a run begun in a process of its own, and hearing what came of it."""

from __future__ import annotations

import subprocess
import sys

import anyio
import anyio.abc

import milepost
from milepost.mcp.detached import Begun, StartWish

PATIENCE_S = 50.0  # clients wait a minute for an answer
LONGEST_ANSWER = 100_000


async def depart(wish: StartWish) -> Begun:
    """Start the run that is wished for; gives what it said of its start."""
    argv = [sys.executable, "-m", "milepost.mcp.detached"]
    process = await anyio.open_process(argv, cwd=wish.roadmap.parent, stderr=subprocess.DEVNULL, start_new_session=True)
    async with process:
        assert process.stdin is not None and process.stdout is not None
        await process.stdin.send(wish.model_dump_json(exclude_defaults=True).encode())
        await process.stdin.aclose()
        answer = b""
        with anyio.move_on_after(PATIENCE_S):
            answer = await _first_line(process.stdout)
    if not answer:
        raise milepost.MilepostError(
            f"the run did not begin within {PATIENCE_S:g} s", "run_status tells how it stands; milepost run shows why"
        )
    return Begun.model_validate_json(answer)


async def _first_line(stream: anyio.abc.ByteReceiveStream) -> bytes:
    found = b""
    while b"\n" not in found and len(found) < LONGEST_ANSWER:
        try:
            found += await stream.receive()
        except anyio.EndOfStream:
            break
    return found.partition(b"\n")[0]
