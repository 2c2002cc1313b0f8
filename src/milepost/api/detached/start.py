"""Starts detached runs."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Unpack

from milepost.api.detached.request import DetachedStart, StartRequest, error_of, new_run
from milepost.api.roadmaps import find
from milepost.core.errors import MilepostError
from milepost.engine.project.consent import for_children
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.records.run_request import RunOptions, RunRequest

PROGRAM = (sys.executable, "-P", "-m", "milepost.api.detached.process")
PATIENCE_S = 50.0  # clients over the network wait a minute for an answer
LONGEST_ANSWER = 100_000
OWN = ("MILEPOST_MCP_", "MILEPOST_WEB_")  # variables that are for the servers only


def start_detached(
    roadmap: Path | str | None = None, *, agent: str | None = None, stays: bool = False, **options: Unpack[RunOptions]
) -> DetachedStart:
    """Start a run as `milepost.run` does, by the same keywords, in a process of its own."""
    return start(new_run(find(roadmap), agent=agent, stays=stays, **options))


def resume_detached(
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> DetachedStart:
    """Resume the interrupted or paused run in a process of its own; with `run` no other one."""
    wish = RunRequest(budget_usd=budget_usd, database=database)
    return start(StartRequest(roadmap=find(roadmap), wish=wish, resume=True, run=run, stays=stays))


def retry_detached(
    task: str,
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> DetachedStart:
    """Retry a task as `milepost.retry` does, in a process of its own; `held` of the result says how."""
    from milepost.engine.run.retry import Retry, once_more

    path = find(roadmap)
    again = once_more(Retry(task=task, roadmap=path, agent=agent, budget_usd=budget_usd, database=database))
    result = start(StartRequest(roadmap=path, wish=again.wish, stays=stays))
    return result.model_copy(update={"held": str(again)})


def detached_error(run: str, roadmap: Path | str | None = None) -> str:
    """Why a detached run did not finish; empty if unknown."""
    return error_of(find(roadmap), run)


def start(request: StartRequest) -> DetachedStart:
    """Start a process for the request; returns what it reports of the start, and raises if it was refused.

    The process starts outside the repository, so that files there cannot shadow our modules.
    """
    process = subprocess.Popen(
        PROGRAM,
        cwd="/",
        env=environment_for(request),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(request.model_dump_json(exclude_defaults=True).encode())
        answer, in_time = _answer(process.stdout, time.monotonic() + PATIENCE_S)
    finally:
        if process.stdout is not None:
            process.stdout.close()
        process.kill()  # the run itself is in a child that left its process group
        process.wait()
    result = result_of(answer, in_time=in_time)
    if result.what == "refused":
        raise MilepostError(result.reason, result.advice)
    return result


def environment_for(request: StartRequest) -> dict[str, str]:
    """The environment of a run; raises where it would use settings that nobody agreed to.

    What this process was told to agree to, its runs take as it was when the first of them began.
    """
    load(request.roadmap.parent, uses=EVERYTHING)
    return environment(for_children())


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run: that of the server, without the variables that are for the server only."""
    return {name: value for name, value in given.items() if not name.startswith(OWN)}


def result_of(answer: bytes, *, in_time: bool) -> DetachedStart:
    """The result of a start from the line that the process printed; raises if there is none."""
    if answer:
        return DetachedStart.model_validate_json(answer)
    if in_time:
        raise MilepostError("the process of the run ended before the run began", "try again; milepost run shows why")
    raise MilepostError(
        f"the run did not begin within {PATIENCE_S:g} s", "milepost status shows its state; milepost run shows why"
    )


def _answer(stdout: IO[bytes], until: float) -> tuple[bytes, bool]:
    """The line that a process prints, empty if it ends without one; and False if the time was up."""
    found = b""
    while b"\n" not in found and len(found) < LONGEST_ANSWER:
        if not select.select([stdout], [], [], max(0.0, until - time.monotonic()))[0]:
            return b"", False
        if not (more := os.read(stdout.fileno(), LONGEST_ANSWER)):
            return b"", True
        found += more
    return found.partition(b"\n")[0], True
