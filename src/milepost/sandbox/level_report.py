"""What a relay says of its guest, and how that reads as the end of a command."""

from __future__ import annotations

import errno
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.core.commands import RAN_OUT_OF_TIME, Termination
from milepost.core.errors import MachineFailed
from milepost.core.machine_failure import machine_failure

_OUT_OF_PROCESSES = "make sure that the machine is not out of processes or memory, then: milepost resume"
ENFORCED_BY_HOST = ("process-tree", "clean-environment", "output-cap", "wall-clock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The facts of one guest. `ended` says who or what ended it, and is empty while or when nobody said.

    `started` is said when its program runs, `words` go with an `ended` that is about what it used.
    """

    ended: str = ""
    words: str = ""
    started: bool = False
    exit_code: int | None = None
    signal: int | None = None
    failure: Mapping[str, Any] | None = None
    applied: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    max_rss_bytes: int = 0
    peak_bytes: int = 0
    changes: int = 0

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Report:
        """The report that the relay's facts so far add up to."""
        lists = {name: tuple(facts.get(name, ())) for name in ("applied", "refused")}
        return cls(**{**facts, **lists})

    @property
    def memory_bytes(self) -> int:
        """The most memory of the guest, by the larger of two accounts: its largest process, and its whole tree."""
        return max(self.max_rss_bytes, self.peak_bytes)


@dataclass(frozen=True, slots=True)
class HowItEnded:
    """How a guest ended; `error` is empty when it ended by itself with an exit code."""

    termination: Termination
    error: str = ""


def how_it_ended(report: Report, ended_for: HowItEnded | None) -> HowItEnded:
    """How the guest ended; `ended_for` is why the host ended it, if the host did.

    MachineFailed when it was neither the guest's doing nor the host's: what came of the guest is then unknown.
    """
    if report.failure is not None and report.started and report.failure["stage"] == "start":
        raise MachineFailed(
            f"the sandbox's supervisor failed: {report.failure['text']}", "continue with: milepost resume"
        )
    if report.failure is not None:
        return HowItEnded("not_started", _why_not_started(report.failure))
    match report.ended:
        case "guest" if report.signal == signal.SIGXCPU:
            return HowItEnded("cpu", "used up its processor time")
        case "guest" if report.signal is not None:
            return HowItEnded("signalled", f"ended by {signal_name(report.signal)}")
        case "guest":
            return HowItEnded("exited")
        case "timeout":
            return HowItEnded("timeout", RAN_OUT_OF_TIME)
        case "memory" | "cpu" | "disk" | "output" | "processes" as excess:
            return HowItEnded(excess, report.words)
        case "silence":
            return HowItEnded("killed", report.words)
        case _ if ended_for is not None:
            return ended_for
        case "" if not report.started:
            raise MachineFailed("the sandbox could not start a process", _OUT_OF_PROCESSES)
        case _:
            raise MachineFailed("the sandbox's supervisor was lost", "continue with: milepost resume")


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
        "confine": "the sandbox could not confine the process",
    }.get(stage, "the sandbox could not start a process")
    if exhausted := machine_failure(OSError(number, text), what):
        raise exhausted
    if stage not in ("exec", "cwd"):
        raise MachineFailed(f"{what}: {text}", "milepost doctor shows which trust levels this machine supports")
    hint = {
        errno.ENOENT: "the interpreter its first line names does not exist",
        errno.EACCES: "it, or the interpreter its first line names, is not accessible in the sandbox",
        errno.ENOEXEC: "it is neither a program for this machine nor a script that names its interpreter",
        errno.E2BIG: "its arguments and environment are too long",
    }.get(number, "")
    return f"{what}: {text} ({hint})" if stage == "exec" and hint else f"{what}: {text}"
