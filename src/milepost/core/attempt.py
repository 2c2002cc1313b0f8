"""An attempt: what an agent is asked, and what it says at the end."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

from milepost.core.calls import NOTHING, Usage
from milepost.core.verdict import Evidence

LIMIT_REACHED = "limit reached"  # how the last line of an outcome begins whose service is at its limit
SERVER_SILENT = "the server does not answer"  # the same where it is down or cannot be reached

OutcomeStatus = Literal["finished", "gave_up", "timed_out", "limited", "spent"]
SignalKind = Literal["uncertain", "explore", "commit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What one attempt is to do; `evidence` is what failed in the attempts before it.

    `rules` are what the repository says to agents, each with its file, the nearest first. `context` is the part of the
    repository that the agent is shown. `notes` are words of the person who watches.
    """

    run: str
    task: str
    title: str
    text: str
    attempt: int
    files: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    context: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where an attempt works: its checkout, and a scratch folder outside it for home and temporary files.

    `kept` is a folder that outlives the process: what a program with sessions of its own needs to go on with one.
    """

    folder: Path
    scratch: Path
    base: str
    kept: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What an agent says of its own confidence: it is uncertain why, explores what, commits itself to which plan."""

    kind: SignalKind
    text: str

    @property
    def in_words(self) -> str:
        """The signal as people and models read it."""
        match self.kind:
            case "uncertain":
                return f"uncertain: {self.text}"
            case "explore":
                return f"exploring: {self.text}"
            case "commit":
                return f"committed to: {self.text}"
            case _ as never:
                assert_never(never)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an agent ended. What it says is kept and believed by nobody.

    `limited` means that its service refuses further calls for a while: the attempt was not really made. `spent` means
    that a further call could break the task's budget.
    `printed` is all that it printed, for a diff that may be in it; it is not kept. `usage` is what it took, the calls
    in its logbook included. `signals` are what it said of its own confidence on the way. `given` is what it was set up
    with: by the repository, by its user, and what it was not given.
    """

    status: OutcomeStatus
    said: str = ""
    usage: Usage = NOTHING
    enforced: tuple[str, ...] = ()
    printed: str = ""
    signals: tuple[Signal, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def cost_usd(self) -> float:
        return self.usage.cost_usd

    @property
    def doubts(self) -> int:
        """How often it was uncertain since it last committed itself to a plan."""
        since = itertools.takewhile(lambda signal: signal.kind != "commit", reversed(self.signals))
        return sum(signal.kind == "uncertain" for signal in since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One finished try at a task: the commit it left, and what the engine found out about it."""

    number: int
    agent: str
    base: str
    commit: str
    outcome: Outcome
    evidence: Evidence
    duration_ms: int
