"""What a relay says of its guest, and how that reads as the end of a command."""

from __future__ import annotations

import errno
import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.core.commands import Termination

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
    cpu_s: float = 0.0
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
class Ending:
    """How a guest ended; `error` is empty when it ended by itself with an exit code."""

    termination: Termination
    error: str = ""


def ending(report: Report, ended_for: Ending | None) -> Ending:
    """How the guest ended; `ended_for` is why the host ended it, if the host did."""
    if report.failure is not None:
        return Ending("not_started", _why_not_started(report.failure))
    match report.ended:
        case "guest" if report.signal is not None:
            return Ending("signalled", f"ended by {signal_name(report.signal)}")
        case "guest":
            return Ending("exited")
        case "timeout":
            return Ending("timeout", "ran out of time")
        case "host" if ended_for is not None:
            return ended_for
        case "" if report.pid is None:
            return Ending("not_started", "the sandbox could not start a process: is the machine out of them?")
        case _:
            return Ending("killed", "its keeper in the sandbox was lost, and it was ended with it")


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _why_not_started(failure: Mapping[str, Any]) -> str:
    stage, number, text = failure["stage"], failure["errno"], failure["text"]
    if stage == "exec":
        hint = {
            errno.ENOENT: "the interpreter its first line names does not exist",
            errno.EACCES: "it, or the interpreter its first line names, is not within reach of the sandbox",
            errno.ENOEXEC: "it is neither a program for this machine nor a script that names its interpreter",
            errno.E2BIG: "its arguments and environment are too long",
        }.get(number, "")
        return f"the program cannot be run: {text}" + (f" ({hint})" if hint else "")
    what = {"cwd": "the working directory cannot be entered", "confine": "the sandbox could not close itself"}
    return f"{what.get(stage, 'the sandbox could not start a process')}: {text}"
