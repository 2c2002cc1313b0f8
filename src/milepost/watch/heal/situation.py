"""What is known when it is decided what to do: the release, its instances, its traffic, and what was done before.

All moments are of one monotonic clock, that of whoever decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from milepost.core.watching import RemedyKind


class CameBy(StrEnum):
    """How a release came to have the traffic."""

    DEPLOY = "deploy"
    ROLLBACK = "rollback"


class RemedyOutcome(StrEnum):
    UNDER_WAY = "under way"
    """It was begun; it is not known yet whether it helped."""
    HELPED = "helped"
    DID_NOT_HELP = "did not help"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceState:
    """One instance of the release with the traffic. None: not known."""

    name: str
    alive: bool
    was_ready: bool
    """It has answered its health path before, so that it is news if it does not now."""
    answers: bool | None
    deaths: int = 0
    """How often it ended by itself in the last minute and was started again."""
    error_rate: float | None = None
    answer_ms: float | None = None
    """The mean time of its answers."""
    memory_share: float | None = None
    """Of its limit."""
    cpu_share: float | None = None
    """Of one processor, over the last looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What users' requests came to in the last looks, counted before any retry hides an error."""

    requests: int
    error_rate: float
    p99_ms: float
    utilisation: float | None = None
    """How much of what the instances can do is asked of them; None where nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmRelease:
    """The release before, still running behind the one with the traffic."""

    number: int
    answers: bool
    proven: bool
    """It was live and well for at least its soak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One moment of one target."""

    seen_at: float
    """When the newest measurement was taken."""
    watcher_sees: bool
    """The watcher's own control target answered: what does not answer is not the watcher's fault."""
    release: int
    live_for_s: float
    came_by: CameBy
    warm: WarmRelease | None
    deploying: bool
    instances: tuple[InstanceState, ...]
    least: int
    most: int
    traffic: Traffic | None
    """None without data: too few requests, or nobody counts them."""
    traffic_before: Traffic | None
    """The same just before this release got the traffic."""
    dependency_answers: bool | None
    disk_free: float | None
    """As a share of the disk."""
    disk_full_in_s: float | None
    """By how it filled in the last looks; None where it does not fill."""
    bad_for_s: float
    """For how long a threshold has been broken without a pause."""
    breach: bool
    """A threshold is broken now, and not only still above the one that clears it."""
    dependency_back_s: float | None = None
    """For how long what it depends on answers again; None where it was never seen not to."""
    asked_more: float | None = None
    """How many times as much is asked as when this release was last well; None where it never was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRemedy:
    """A remedy that was begun. It is written down before anything is done."""

    at: float
    kind: RemedyKind
    subject: str
    """The instance; `dead` for those that ended; the release for what is about all of it; `logs` for a disk."""
    release: int
    """Which had the traffic when it was begun."""
    outcome: RemedyOutcome = RemedyOutcome.UNDER_WAY


@dataclass(frozen=True, slots=True)
class Remedy:
    """Do this now."""

    kind: RemedyKind
    subject: str
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing now."""

    why: str


@dataclass(frozen=True, slots=True)
class Escalate:
    """Ask a person: nothing that may be done here helps."""

    why: str


Decision = Remedy | Wait | Escalate


@dataclass(frozen=True, slots=True, kw_only=True)
class HealLimits:
    """When something counts as bad, how often something may be done about it, and how long it is waited for."""

    stale_s: float = 3.0
    blind_s: float = 60.0
    sustain_s: float = 1.5
    """Three looks of a second, also where one of them comes a little early."""
    window_s: float = 5.0
    """For so long measurements are still of the time before."""
    settle_s: float = 12.0
    """How long a remedy is given to show its effect."""
    cooldown_s: float = 20.0
    """After one that did not help; twice as long after each further one."""
    remedies_an_hour: int = 6
    strikes: int = 3
    blame_s: float = 180.0
    """For so long after a deploy its release is the first suspect."""
    least_requests: int = 20
    error_rate: float = 0.05
    p99_ms: float = 1000.0
    more: float = 1.5
    memory_share: float = 0.85
    cpu_share: float = 0.25
    """Of an instance that takes five times as much as any other: they share the requests, so it is not those. A busy
    machine gives it no more."""
    spin_s: float = 10.0
    busy: float = 0.8
    disk_low: float = 0.05
    disk_soon_s: float = 60.0
    patience_s: float = 60.0
    """How long something is bad before a person is called about what nothing here can heal."""


def spins(one: InstanceState, all_of_them: Iterable[InstanceState], limits: HealLimits) -> bool:
    """Whether an instance takes so much more of a processor than the others that it is not their common work."""
    others = [each.cpu_share or 0 for each in all_of_them if each.name != one.name]
    share = one.cpu_share or 0
    return bool(others) and share > limits.cpu_share and share > 5 * max(others)
