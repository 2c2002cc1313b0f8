"""What a relay says of its guest, and how that reads as the end of a command."""

from __future__ import annotations

import errno
import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.core.commands import Termination
from milepost.core.errors import MachineFailed
from milepost.core.machine import machine_failure

_OUT_OF_PROCESSES = "see that the machine is not out of processes or memory, then: milepost resume"
ENFORCED_BY_HOST = ("process-tree", "clean-environment", "output-cap", "wall-clock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The facts of one guest. `ended` says who or what ended it, and is empty while or when nobody said."""

    ended: str = ""
    exit_code: int | None = None
    signal: int | None = None
    failure: Mapping[str, Any] | None = None
    applied: tuple[str, ...] = ()
    max_rss_bytes: int = 0
    pid: int | None = None

    @classmethod
    def from_lines(cls, text: bytes) -> Report:
        """The facts of all complete lines so far."""
        facts: dict[str, Any] = {}
        for line in text.splitlines(keepends=True):
            if line.endswith(b"\n"):
                facts.update(json.loads(line))
        facts["applied"] = tuple(facts.get("applied", ()))
        return cls(**facts)


@dataclass(frozen=True, slots=True)
class HowItEnded:
    """How a guest ended; `error` is empty when it ended by itself with an exit code."""

    termination: Termination
    error: str = ""


def how_it_ended(report: Report, ended_for: HowItEnded | None) -> HowItEnded:
    """How the guest ended; `ended_for` is why the host ended it, if the host did.

    MachineFailed when it was neither the guest's doing nor the host's: what came of the guest is then unknown.
    """
    if report.failure is not None:
        return HowItEnded("not_started", _why_not_started(report.failure))
    match report.ended:
        case "guest" if report.signal is not None:
            return HowItEnded("signalled", f"ended by {signal_name(report.signal)}")
        case "guest":
            return HowItEnded("exited")
        case "timeout":
            return HowItEnded("timeout", "ran out of time")
        case _ if ended_for is not None:
            return ended_for
        case "" if report.pid is None:
            raise MachineFailed("the sandbox could not start a process", _OUT_OF_PROCESSES)
        case _:
            raise MachineFailed("the sandbox's keeper was lost", "milepost resume goes on")


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _why_not_started(failure: Mapping[str, Any]) -> str:
    """What is wrong with the program or its working directory; all else is the machine's failure, and raised."""
    stage, number, text = failure["stage"], failure["errno"], failure["text"]
    what = {
        "exec": "the program cannot be run",
        "cwd": "the working directory cannot be entered",
        "confine": "the sandbox could not close itself",
    }.get(stage, "the sandbox could not start a process")
    if exhausted := machine_failure(OSError(number, text), what):
        raise exhausted
    if stage not in ("exec", "cwd"):
        raise MachineFailed(f"{what}: {text}", "milepost doctor tells what this machine can hold")
    hint = {
        errno.ENOENT: "the interpreter its first line names does not exist",
        errno.EACCES: "it, or the interpreter its first line names, is not within reach of the sandbox",
        errno.ENOEXEC: "it is neither a program for this machine nor a script that names its interpreter",
        errno.E2BIG: "its arguments and environment are too long",
    }.get(number, "")
    return f"{what}: {text} ({hint})" if stage == "exec" and hint else f"{what}: {text}"
