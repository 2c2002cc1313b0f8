"""What a person asks of a run from the page, done by the library, and what they are told of it."""

from __future__ import annotations

import threading
from typing import Final, assert_never

import milepost
from milepost import runs
from milepost.core.errors import NothingToSteer
from milepost.web.one_at_a_time import Turns
from milepost.web.page_facts import PageFacts, run_named
from milepost.web.request_bodies import Steer

STOPPING_S: Final = 1.0  # a run that ends in this time is told as ended
LONGEST_SHOWN: Final = 60


def steered(site: PageFacts, turns: Turns, wish: Steer, run: str) -> str:
    """Do what is wished for; gives in words what was done. `run` is the one that the page shows, if it says so."""
    match wish.verb:
        case "pause" | "go_on" | "finish" | "drop" | "agent" | "parallel" | "note":
            shown = _unfinished(site, run)
            at_work = shown in site.stream.at_work()
            if wish.verb in ("pause", "go_on", "finish") and not at_work:
                raise NothingToSteer(f"run {shown} is not running", "continue it with resume")
            with turns.turn(f"{wish.verb} {wish.task}"):
                milepost.steer(
                    wish.verb,
                    site.roadmap,
                    task=wish.task,
                    value=wish.text.strip(),
                    run=shown,
                    database=site.database,
                )
            return _told(wish) if at_work else f"{_told(wish)}, when the run is resumed"
        case "stop":
            return _stop(site, turns, _unfinished(site, run), at_once=wish.text == "now")
        case "retry":
            return _retry(site, turns, wish)
        case "resume":
            with turns.turn("begin"):
                return _begun(runs.resume_detached(site.roadmap, run=run or None, stays=True, database=site.database))
        case _ as never:
            assert_never(never)


def _unfinished(site: PageFacts, run: str) -> str:
    """The run that is shown; raises where it is over: what is asked would go to another."""
    shown = run_named(site, run)
    glance = next((glance for glance in site.stream.runs() if glance.run == shown), None)
    if glance is None:
        raise NothingToSteer("no run is in progress here", "milepost run starts one")
    if glance.ended or glance.left_at is not None:
        raise NothingToSteer(f"run {shown} is over", "look at the newest run")
    return shown


def _told(wish: Steer) -> str:
    text = wish.text.strip()
    whom = wish.task or "all tasks"
    words = {
        "pause": "pausing: no new step starts, running steps continue",
        "go_on": "continuing: new steps start again",
        "finish": "finishing: running tasks are completed, nothing new starts",
        "drop": f"{wish.task} is dropped: it is left out unless it has started",
        "agent": f"{text[:LONGEST_SHOWN]} makes the next attempts at {whom}",
        "parallel": f"{text} attempts at once from now on",
        "note": f"noted for {whom}: the agent reads it from the next attempt on",
    }
    return words[wish.verb]


def _stop(site: PageFacts, turns: Turns, run: str, *, at_once: bool) -> str:
    """Ask the run to stop; who asks does not wait for minutes, the turn is held until it has."""
    done, stopped = threading.Event(), Stopped()

    def wait() -> None:
        try:
            with turns.turn("stop at once" if at_once else "stop"):
                stopped.run = milepost.stop(site.roadmap, at_once=at_once, run=run, database=site.database)
        except milepost.MilepostError as error:
            stopped.error = error
        finally:
            done.set()

    threading.Thread(target=wait, name="milepost stop", daemon=True).start()
    ended = done.wait(STOPPING_S)
    if stopped.error is not None:
        raise stopped.error
    if not ended:
        return "stopping at once" if at_once else "stopping: the steps in flight are finished first"
    if stopped.run is None:
        raise NothingToSteer("nothing runs here", "resume continues a run that was interrupted")
    return f"run {stopped.run} is stopped: continue it with resume"


class Stopped:
    """What came of a stop."""

    run: str | None = None
    error: milepost.MilepostError | None = None


def _retry(site: PageFacts, turns: Turns, wish: Steer) -> str:
    if not wish.task:
        raise milepost.Misuse("retry needs to know which task", "choose one")
    with turns.turn("begin"):
        begun = runs.retry_detached(
            wish.task, site.roadmap, agent=wish.text.strip() or None, stays=True, database=site.database
        )
    if not begun.run:
        return _begun(begun)
    return f"{wish.task} will be tried again {begun.held}".rstrip() + f", in run {begun.run}"


def _begun(begun: runs.DetachedStart) -> str:
    if begun.what == "nothing_to_do":
        return begun.reason or "there is nothing to do"
    return f"run {begun.run} {'starts' if begun.what == 'started' else 'continues'}"
