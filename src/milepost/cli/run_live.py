"""Running and resuming as the command line tells it: in lines of JSON, or live for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never

import typer

import milepost
from milepost import events, runs
from milepost.cli.exit_codes import DONE, INTERRUPTED, NOT_DONE
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import print_lines

if TYPE_CHECKING:
    from rich.console import Console

    from milepost import Ending, Event

Go = Callable[[Callable[["Event"], None]], "Ending"]


def tell_run(as_json: bool, go: Go, *, before: int = DONE) -> None:
    """Run or resume, tell it, and end the program with what it comes to, or with what came `before`."""
    from rich.console import Console

    raise typer.Exit((tell_machines(go) if as_json else tell_people(go, Console(stderr=True))) or before)


def people_watch() -> bool:
    """Whether somebody sits at a terminal and may be waited for."""
    return sys.stderr.isatty() and sys.stdin.isatty()


def tell_machines(go: Go) -> int:
    """One event a line, and the ending, whatever it is, as the last line; gives the exit code."""

    def tell(event: Event) -> None:
        if not isinstance(event, milepost.RunFinished):
            _print_line(events.to_json(event))

    ending = go(tell)
    _print_line(_ending_to_json(ending))
    return exit_code(ending)


def tell_people(go: Go, console: Console) -> int:
    """Progress as it happens on the console, and the answer on stdout; gives the exit code."""
    from milepost.cli.live_display import LiveDisplay, ending_lines, result_lines

    with LiveDisplay(console) as progress:

        def tell(event: Event) -> None:
            if isinstance(event, events.WorkerChanged) and not event.worker:  # about one that is not there
                console.print(f"  {event.what}", style="yellow", markup=False, highlight=False, soft_wrap=True)
            else:
                progress(event)

        ending = go(tell)
    match ending:
        case milepost.RunFinished():
            seen = [] if _stdout_is_shown_with_progress() else result_lines(ending)
            lines = seen + ending_lines(ending)
        case milepost.Stopped():
            lines = stopped_lines(ending)
        case runs.Elsewhere():
            lines = [f"run {ending.run} continues on the workers:   {ending.again} follows it again"]
        case milepost.NothingToDo():
            lines = [f"nothing to do: {ending.reason}"]
        case _ as never:
            assert_never(never)
    print_lines("\n".join(lines))
    return exit_code(ending)


def _stdout_is_shown_with_progress() -> bool:
    """Whether who reads stdout has read the progress already: at a terminal, or with both in one file (`2>&1`)."""
    if sys.stdout.isatty():
        return True
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.fstat(sys.stderr.fileno()))
    except (OSError, ValueError):  # replaced by something that is no file
        return False


def stopped_lines(ending: milepost.Stopped) -> list[str]:
    """What to do about a run that stopped, or that left because only people were waited for."""
    if not ending.waits_for:
        return [proposed(f"stopped run {ending.run} · resume it at any time:   milepost resume")]
    first, *others = ending.waits_for
    more = f" (and {len(others)} more)" if others else ""
    gates, yes, resume = (proposed(f"milepost {words}") for words in ("gates", f"approve {first}", "resume"))
    width = max(len(gates), len(yes), len(resume))
    return [
        f"run {ending.run} waits for you: {first}{more}",
        f"next   {gates:<{width}}   the questions and what they are about",
        f"       {yes:<{width}}   or: {proposed(f'milepost reject {first} --reason …')}",
        f"       {resume:<{width}}   continues from there",
    ]


def exit_code(ending: Ending) -> int:
    """0 when all that was asked for is done, 1 when not, 130 when it was interrupted."""
    match ending:
        case milepost.RunFinished():
            return DONE if ending.passed else NOT_DONE
        case runs.Elsewhere():
            return INTERRUPTED
        case milepost.Stopped():
            return NOT_DONE if ending.waits_for else INTERRUPTED
        case milepost.NothingToDo():
            return NOT_DONE if ending.held else DONE
        case _ as never:
            assert_never(never)


def _ending_to_json(ending: Ending) -> dict[str, Any]:
    match ending:
        case milepost.RunFinished():
            return events.to_json(ending)
        case milepost.Stopped():
            return {"event": "run_stopped", "run": ending.run, "waits_for": list(ending.waits_for)}
        case runs.Elsewhere():
            return {"event": "run_elsewhere", "run": ending.run}
        case milepost.NothingToDo():
            return {"event": "nothing_to_do", "reason": ending.reason}
        case _ as never:
            assert_never(never)


def _print_line(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")  # in one piece: a line is never cut by another thread's
    sys.stdout.flush()
