"""What a watcher sees of a target, and what it may do there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


class RemedyKind(StrEnum):
    """What can be done about a release that is not well, besides asking a person."""

    RESTART = "restart"
    """Exchange one instance for a new one, once its requests have ended."""
    REPLACE = "replace"
    """Start again all instances that are dead."""
    SCALE_OUT = "scale out"
    ROLL_BACK = "roll back"
    CLEAR_DISK = "clear disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceUse:
    """What one instance of a release takes of its machine, as counters and shares."""

    name: str
    alive: bool
    cpu_s: float | None = None
    """Processor time since it was started."""
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamCounts:
    """What one instance was asked so far and how it answered, counted at the proxy before any retry.

    `instance` is empty for a target that counts a release only as a whole. Counters begin anew when a proxy does.
    """

    instance: str = ""
    requests: int
    errors: int
    in_flight: int = 0
    time_ms: tuple[tuple[float, int], ...] = ()
    """Answers by their time: upper bound in milliseconds, and how many so far were not above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """One look at a target. None for what it does not tell."""

    release: int
    previous: int | None
    previous_answers: bool = False
    instances: tuple[InstanceUse, ...] = ()
    answers: tuple[tuple[str, bool], ...] = ()
    """Whether each instance of the release answers its health path."""
    upstream: tuple[UpstreamCounts, ...] = ()
    disk_free_bytes: int | None = None
    disk_bytes: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRequest:
    """One try that failed, as the proxy wrote it down: the names of a query's fields, no header and no body.

    `status` is 0 where nothing was answered.
    """

    at: float
    method: str
    path: str
    status: int
    release: int


class WatchedTarget(Protocol):
    """A target that can be looked at closely, and healed. Each act may be made twice, after a crash."""

    def look(self) -> TargetView: ...

    def restart_instance(self, name: str) -> None:
        """Start another one in its place, then stop it when its requests have ended."""
        ...

    def replace_dead(self) -> None: ...

    def scale(self, instances: int) -> None: ...

    def clear_disk(self) -> int:
        """Take away what nobody needs any more: old logs, files of releases that nobody goes back to. Bytes freed."""
        ...
