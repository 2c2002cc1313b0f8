"""Having a run begun in a process of its own, and hearing what came of it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

import milepost
from milepost.detached import Begun, StartWish

PROGRAM = (sys.executable, "-P", "-m", "milepost.detached")
PATIENCE_S = 50.0  # whoever asks over the network waits a minute for an answer
LONGEST_ANSWER = 100_000
OWN = ("MILEPOST_MCP_", "MILEPOST_WEB_")  # what a server is given for itself


def depart(wish: StartWish) -> Begun:
    """Start the run that is wished for; gives what it said of its start, and raises where it was refused.

    The process begins outside the repository, so that it imports nothing from there in place of our own modules.
    """
    process = subprocess.Popen(
        PROGRAM,
        cwd="/",
        env=environment(os.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError), process.stdin as wishing:
            wishing.write(wish.model_dump_json(exclude_defaults=True).encode())
        answer, in_time = _answer(process.stdout, time.monotonic() + PATIENCE_S)
    finally:
        if process.stdout is not None:
            process.stdout.close()
        process.kill()  # the run itself is in a process that this one left behind
        process.wait()
    begun = begun_by(answer, in_time=in_time)
    if begun.what == "refused":
        raise milepost.MilepostError(begun.reason, begun.advice)
    return begun


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run: all but what the server that asks for it is given for itself."""
    return {name: value for name, value in given.items() if not name.startswith(OWN)}


def begun_by(answer: bytes, *, in_time: bool) -> Begun:
    """What a line says of a start; raises where there is none."""
    if answer:
        return Begun.model_validate_json(answer)
    if in_time:
        raise milepost.MilepostError(
            "the process of the run ended before the run began", "try again; milepost run shows why"
        )
    raise milepost.MilepostError(
        f"the run did not begin within {PATIENCE_S:g} s", "milepost status tells how it stands; milepost run shows why"
    )


def _answer(said: IO[bytes], until: float) -> tuple[bytes, bool]:
    """The line that a process says, nothing where it ends without one; and whether there was time enough."""
    found = b""
    while b"\n" not in found and len(found) < LONGEST_ANSWER:
        if not select.select([said], [], [], max(0.0, until - time.monotonic()))[0]:
            return b"", False
        if not (more := os.read(said.fileno(), LONGEST_ANSWER)):
            return b"", True
        found += more
    return found.partition(b"\n")[0], True
