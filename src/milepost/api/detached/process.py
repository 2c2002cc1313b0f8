"""The process of a detached run.

    python -P -m milepost.api.detached.process < request

It prints the result of the start on stdout in one line, closes stdout and runs on. It imports nothing of the servers
that start runs. It starts outside the repository and changes to the folder of the roadmap only when it runs, so that
files there cannot shadow our modules.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from milepost.api import runs
from milepost.api.detached.request import DetachedStart, StartRequest, error_file
from milepost.core.errors import MilepostError
from milepost.core.events import Event, RunStarted
from milepost.engine.records.suspend import Terminated

if TYPE_CHECKING:
    from milepost.engine.workers.dispatch import Ending


def main() -> None:
    """Leave the caller's process group, then run."""
    request = StartRequest.model_validate_json(sys.stdin.read())
    os.chdir(request.roadmap.parent)
    if os.fork():
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    work(request, Reply())


def work(request: StartRequest, reply: Reply) -> None:
    """Run a roadmap until it is finished; a failure is the reply, and goes to a file once the run has started."""
    run = ""

    def on_event(event: Event) -> None:
        nonlocal run
        if not run:
            run = event.run
            with suppress(OSError):
                error_file(request.roadmap).unlink(missing_ok=True)
            what: Literal["started", "resumed"] = "started" if isinstance(event, RunStarted) else "resumed"
            if not reply(DetachedStart(what=what, run=run)):
                os.kill(os.getpid(), signal.SIGINT)  # nobody knows of the run: it stops, and can be resumed

    try:
        ending = _run(request, on_event)
    except MilepostError as error:
        refused = DetachedStart(what="refused", run=run, reason=error.message, advice=error.advice)
    except KeyboardInterrupt:
        refused = DetachedStart(what="refused", run=run, reason="was interrupted", advice="start it again")
    except Exception as error:
        mistake = f"bug in milepost: {type(error).__name__}: {error}"
        refused = DetachedStart(what="refused", run=run, reason=mistake, advice="milepost run --debug shows where")
    else:
        if not run:
            reply(DetachedStart(what="nothing_to_do", reason=getattr(ending, "reason", "")))
        return
    reply(refused)
    if not run:
        return  # nothing started: the error of the run before stays
    with suppress(OSError):
        error_file(request.roadmap).write_text(refused.model_dump_json(exclude_defaults=True), encoding="utf-8")


def _run(request: StartRequest, on_event: Callable[[Event], None]) -> Ending:
    wish = replace(request.wish, roadmap=request.roadmap)
    if request.resume:
        return runs.resume(
            request.roadmap,
            run=request.run,
            budget_usd=wish.budget_usd,
            stays=request.stays,
            database=wish.database,
            on_event=on_event,
        )
    return runs.run_request(wish, stays=request.stays, on_event=on_event)


class Reply:
    """Prints one line for the process that started the run, then closes the streams that they share."""

    def __init__(self) -> None:
        self._sent = False

    def __call__(self, result: DetachedStart) -> bool:
        """Print it, unless a reply was sent before; False if nobody reads it."""
        if self._sent:
            return True
        self._sent = True
        try:
            os.write(1, result.model_dump_json(exclude_defaults=True).encode() + b"\n")
        except OSError:
            return False
        finally:
            close_streams()
        return True


def close_streams() -> None:
    """Redirect stdin, stdout and stderr to /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    if null > 2:
        os.close(null)


def _interrupt(number: int, _: object) -> None:
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


if __name__ == "__main__":
    main()
