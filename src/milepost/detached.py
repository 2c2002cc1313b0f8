"""A run in a process of its own, which outlives whoever asked for it.

    python -P -m milepost.detached < wish

It says on stdout in one line what came of the start, closes it and goes on. It imports nothing of the servers that ask
for runs, and it goes to the folder of the roadmap only once it runs: what lies there is not ours to import.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

from pydantic import BaseModel, ConfigDict

import milepost
from milepost.api.running import granted
from milepost.engine.records.run_request import RunRequest

LAST_WORDS = "detached.json"


class StartWish(BaseModel):
    """A run to begin, as `milepost run` does; with `resume` one to go on with, as `milepost resume` does.

    With `run` no other one goes on. One that `stays` waits for people when only they are left; others leave, and can be
    resumed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    roadmap: Path
    wish: RunRequest = RunRequest()
    resume: bool = False
    run: str | None = None
    stays: bool = False


def starting(
    roadmap: Path, *, agent: str | None = None, stays: bool = False, **wishes: Unpack[milepost.Wishes]
) -> StartWish:
    """A run to begin, by the keywords of `milepost.run`."""
    return StartWish(roadmap=roadmap, wish=RunRequest(agent=agent, **wishes), stays=stays)


class Begun(BaseModel):
    """What came of a start: a run that goes on, nothing to do, or why it cannot be.

    `held` says of a task that is tried again by whom, and how it is held.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: Literal["started", "resumed", "nothing_to_do", "refused"]
    run: str = ""
    reason: str = ""
    advice: str = ""
    held: str = ""


def main() -> None:
    """Leave the caller's family of processes, then travel."""
    wish = StartWish.model_validate_json(sys.stdin.read())
    os.chdir(wish.roadmap.parent)
    if os.fork():
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    travel(wish, Teller())


def travel(wish: StartWish, tell: Teller) -> None:
    """Run a roadmap to its end; what it ends with is told, or written down once nobody listens any more."""
    run = ""
    words = last_words(wish.roadmap)

    def hear(event: milepost.Event) -> None:
        nonlocal run
        if not run:
            run = event.run
            with suppress(OSError):
                words.unlink(missing_ok=True)
            if not tell(Begun(what="started" if isinstance(event, milepost.RunStarted) else "resumed", run=run)):
                os.kill(os.getpid(), signal.SIGINT)  # nobody knows of it: it stops, and can go on at any time

    try:
        ending = _granted(wish, hear)
    except milepost.MilepostError as error:
        refused = Begun(what="refused", run=run, reason=error.message, advice=error.advice)
    except KeyboardInterrupt:
        refused = Begun(what="refused", run=run, reason="was interrupted", advice="start it again")
    except Exception as error:
        mistake = f"bug in milepost: {type(error).__name__}: {error}"
        refused = Begun(what="refused", run=run, reason=mistake, advice="milepost run --debug shows where")
    else:
        if not run:
            tell(Begun(what="nothing_to_do", reason=getattr(ending, "reason", "")))
        return
    tell(refused)
    if not run:
        return  # nothing began: why the run before came to no end still stands
    with suppress(OSError):
        words.write_text(refused.model_dump_json(exclude_defaults=True), encoding="utf-8")


def _granted(wish: StartWish, hear: Callable[[milepost.Event], None]) -> milepost.Ending:
    asked = replace(wish.wish, roadmap=wish.roadmap)
    if wish.resume:
        return milepost.resume(
            wish.roadmap,
            run=wish.run,
            budget_usd=asked.budget_usd,
            stays=wish.stays,
            database=asked.database,
            on_event=hear,
        )
    return granted(asked, stays=wish.stays, on_event=hear)


def last_words(roadmap: Path) -> Path:
    """Where it is written why a run that was begun came to no end."""
    return roadmap.parent / ".milepost" / LAST_WORDS


def why_it_ended(roadmap: Path, run: str) -> str:
    """Why a run that was begun came to no end, empty where nothing is known."""
    try:
        said = Begun.model_validate_json(last_words(roadmap).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return f"{said.reason}: {said.advice}" if said.run == run else ""


class Teller:
    """Says one line to whoever asked for the run, and lets go of all that they share."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, begun: Begun) -> bool:
        """Say it, unless something was said before; False when whoever asked is gone."""
        if self._told:
            return True
        self._told = True
        try:
            os.write(1, begun.model_dump_json(exclude_defaults=True).encode() + b"\n")
        except OSError:
            return False
        finally:
            let_go()
        return True


def let_go() -> None:
    """Point stdin, stdout and stderr to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    if nowhere > 2:
        os.close(nowhere)


def _interrupt(_: int, __: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
