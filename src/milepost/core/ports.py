"""The ports: what one room needs of another, as small protocols.

Each has an implementation that ships and needs nothing from outside, and a contract test
that every implementation passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from milepost.core.attempt import Assignment, Outcome, Signal, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.commands import Command, CommandResult, ExecutionLimits, ExecutionResult, Line
from milepost.core.errors import SandboxRefused
from milepost.core.shipping import Artifact, Health, Measurement, Release
from milepost.core.verdict import CheckResult


class Terminal(Protocol):
    """Runs commands where they can do no harm."""

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult: ...


class Executor(Protocol):
    """Runs Python code at a trust level; variables stay between runs until `reset`."""

    def run(self, code: str) -> ExecutionResult: ...
    def kill(self) -> None: ...
    def inject(self, name: str, value: Any) -> None: ...
    def reset(self) -> None: ...


class Logbook(Protocol):
    """Makes each call of an attempt once: one that was answered before a crash is not made again.

    `session` is what an agent with sessions of its own noted to find its own one again; empty when it has not.
    """

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply: ...
    def note_session(self, session: str) -> None: ...
    @property
    def session(self) -> str: ...


class Unrecorded:
    """A logbook of a process that need not go on after a crash: every call is made, and nothing is kept."""

    def __init__(self) -> None:
        self.session = ""

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        return make()

    def note_session(self, session: str) -> None:
        self.session = session


class Stops(Protocol):
    """Lets an agent leave in the middle of its work: both raise when it has to, at a stop and at a stop at once."""

    def pause(self, seconds: float) -> None: ...
    def check(self) -> None: ...


class Unstopped:
    """Nobody stops the agent."""

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def check(self) -> None:
        pass


class Interpreter(Protocol):
    """Runs Python code with variables that stay, and with functions of the host that it can call.

    `glance` is called now and then while the code runs, and may raise to end it.
    """

    def run(
        self, code: str, *, timeout_s: float | None = None, glance: Callable[[], None] | None = None
    ) -> ExecutionResult: ...
    def inject(self, name: str, value: Any) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


def no_interpreter(folder: Path, limits: ExecutionLimits) -> Interpreter:
    """Where nobody gives an agent an interpreter to run its code with."""
    raise SandboxRefused("there is no interpreter to run this agent's code", "use an agent that needs none")


def nothing_refused(_: Sequence[str]) -> str:
    """Why a command may not be run, where nobody judges: nothing speaks against any."""
    return ""


def unbounded(_: Usage) -> float | None:
    """What an attempt may still cost, where nobody keeps accounts: there is no bound."""
    return None


def unheard(_: Signal) -> None:
    """Where nobody listens to an agent's signals."""


def ten_minutes(_: Sequence[str]) -> float:
    """The seconds for any command, where nobody tells quick ones from slow ones."""
    return 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What an agent is given to work with: a terminal, a way to say what it is doing, its time, its logbook.

    `stops` tells it when it has to leave; `redact` takes out what it must not learn; `seconds_for` says how long a
    command of its own may take. `usd_left` is what it may still cost, None without a bound.
    `open_interpreter` opens one whose code works in a folder; `judge` says why a command of that code is refused, or
    nothing; `signal` is told how sure the agent is. `account` is told what an agent that asks its model itself has
    taken so far, and says what it may still cost.
    """

    terminal: Terminal
    say: Callable[[str], None]
    timeout_s: float
    idle_timeout_s: float | None = None
    usd_left: float | None = None
    logbook: Logbook = field(default_factory=Unrecorded)
    stops: Stops = field(default_factory=Unstopped)
    redact: Callable[[str], str] = str
    seconds_for: Callable[[Sequence[str]], float] = ten_minutes
    open_interpreter: Callable[[Path, ExecutionLimits], Interpreter] = no_interpreter
    judge: Callable[[Sequence[str]], str] = nothing_refused
    signal: Callable[[Signal], None] = unheard
    account: Callable[[Usage], float | None] = unbounded


class Agent(Protocol):
    """Does one attempt at a task. What it did is read from the workspace, not from what it says."""

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome: ...


class Check(Protocol):
    """Puts one question to a result."""

    def run(self, workspace: Workspace) -> CheckResult: ...


class Builder(Protocol):
    """Makes an artifact of a checkout, in `out`. What the project says of itself is never overwritten."""

    def build(self, checkout: Path, out: Path) -> Artifact: ...


class Target(Protocol):
    """Where releases live. Each call may be made twice for one release, after a crash, and then does its work once."""

    @property
    def at_once(self) -> bool:
        """Whether deploying gives traffic, because the target knows no other way."""
        ...

    def deploy(self, release: Release) -> str:
        """Bring it there and start it, without traffic unless it is `at_once`; what the target calls it."""
        ...

    def health(self, release: Release) -> Health: ...

    def switch(self, release: Release) -> None:
        """Give it the traffic. A rollback is a switch to the release before."""
        ...

    def retire(self, release: Release) -> None:
        """Stop what is kept of a release that nobody will go back to."""
        ...


class TargetControls(Protocol):
    """What a person or the watcher does to a target that runs."""

    def scale(self, instances: int) -> None: ...

    def restart(self) -> None: ...

    def logs(self, release: Release, lines: int) -> str: ...


class Probe(Protocol):
    """Looks at something that runs and says what it measured; what cannot be known is a measurement without a value."""

    async def sample(self) -> tuple[Measurement, ...]: ...
