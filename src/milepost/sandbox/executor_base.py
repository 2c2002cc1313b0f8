"""What all executors share: the variables and functions that code is given, and the session that runs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from milepost.core.commands import Bounds, ExecutionLimits, ExecutionResult
from milepost.sandbox.json_values import require_name, require_plain
from milepost.sandbox.level_report import HowItEnded

KILLED = HowItEnded("killed", "killed while it ran")


class Running(Protocol):
    """A session of any executor: `end` from any thread, `close` when it is to be gone."""

    def is_over(self) -> bool: ...
    def end(self, reason: HowItEnded) -> None: ...
    def close(self) -> None: ...


S = TypeVar("S", bound=Running)


class Current(Generic[S]):
    """The session that there is, if any; only `kill` is for threads that do not run code."""

    def __init__(self) -> None:
        self.session: S | None = None
        self.kills = 0
        self._lock = threading.Lock()

    def kill(self) -> None:
        """End the session now, with whatever it runs."""
        with self._lock:
            self.kills += 1
            if self.session is not None:
                self.session.end(KILLED)

    def end_if_killed_since(self, kills: int) -> None:
        """End a session that was not there yet when it was killed."""
        with self._lock:
            if self.kills != kills and self.session is not None:
                self.session.end(KILLED)

    def begin(self, session: S) -> S:
        with self._lock:
            self.session = session
        return session

    def alive(self) -> S | None:
        """The session if it still runs; one that is over is closed."""
        if self.session is not None and self.session.is_over():
            self.end()
        return self.session

    def end(self) -> None:
        with self._lock:
            if self.session is not None:
                self.session.close()
                self.session = None


class CodeInputs:
    """What code is given: `functions`, and variables, of which `unsent` are those that the session does not have."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}
        self.unsent: dict[str, Any] = {}
        self._variables: dict[str, Any] = {}

    def give(self, name: str, value: Any) -> None:
        """Give a value that was checked, in place of whatever had its name."""
        for kept in (self.functions, self._variables, self.unsent):
            kept.pop(name, None)
        if callable(value):
            self.functions[name] = value
        else:
            self._variables[name] = self.unsent[name] = value

    def send_all(self) -> None:
        """Give all variables to the next session."""
        self.unsent = dict(self._variables)

    def forget(self) -> None:
        self.functions, self.unsent, self._variables = {}, {}, {}


def require_givable(name: str, value: Any, *, functions: bool = True) -> None:
    """Raise ValueError or TypeError for what code cannot be given."""
    require_name(name)
    if not (functions and callable(value)):
        require_plain(value, name)


def no_more_runs(limits: ExecutionLimits) -> str:
    return f"used up its {limits.steps} runs: reset allows as many again"


def bounds_of(limits: ExecutionLimits, *, runtime_mb: int = 0) -> Bounds:
    """The bounds of a process that runs code; `runtime_mb` is what its runtime needs before any code runs."""
    return Bounds(
        memory_mb=limits.memory_mb + runtime_mb,
        processes=limits.processes,
        disk_mb=limits.disk_mb,
        inodes=limits.inodes,
        file_mb=limits.file_mb,
        open_files=limits.open_files,
    )


def ended(facts: ExecutionResult, how: HowItEnded, exit_code: int | None) -> ExecutionResult:
    """The result of a run without an answer."""
    error = how.error or f"the code ended its own process with exit code {exit_code}"
    return replace(facts, error=error, termination=how.termination, timeout=how.termination == "timeout")
