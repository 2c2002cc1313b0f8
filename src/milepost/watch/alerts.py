"""When a measurement becomes an alert, and when it no longer is one: pure, one step a look.

    well → pending → active → well          no data: nothing was measured for too long

A look without data starts no timer, ends none and resolves nothing: what is active stays active.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from milepost.core.watching import Severity


class State(StrEnum):
    WELL = "well"
    PENDING = "pending"
    """Beyond its threshold, but not for long enough."""
    ACTIVE = "active"
    NO_DATA = "no data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When measurements of a metric, or of it for any subject (`cpu@1.0`), are an alert."""

    name: str
    metric: str
    severity: Severity
    fire: float
    clear: float
    """Between the two an active alert stays active, but is no fresh breach."""
    for_s: float = 2.0
    keep_s: float = 10.0
    """For so long it has to be better than `clear` before it is resolved."""
    no_data_s: float = 15.0
    low: bool = False
    """Whether low values are bad."""

    def is_about(self, metric: str) -> bool:
        return metric.partition("@")[0] == self.metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What a rule says of one metric. `since` is of the user's clock, all other moments of a monotonic one."""

    state: State = State.WELL
    since: float = 0.0
    value: float | None = None
    seen_at: float | None = None
    bad_since: float | None = None
    good_since: float | None = None
    fresh: bool = False
    """Beyond its threshold at the last look, and not only in between."""
    acknowledged_by: str = ""
    silenced_until: float = 0.0
    """Of the user's clock. It is still an alert, and nobody is told."""


DEFAULT_RULES = (
    Rule(name="slow answers", metric="p99_ms", severity=Severity.WARNING, fire=1000, clear=800),
    Rule(name="errors", metric="error_rate", severity=Severity.ERROR, fire=0.05, clear=0.02),
    Rule(name="processor", metric="cpu", severity=Severity.WARNING, fire=0.8, clear=0.7, for_s=10),
    Rule(name="memory", metric="memory", severity=Severity.CRITICAL, fire=0.85, clear=0.75),
    Rule(name="disk", metric="disk_free", severity=Severity.CRITICAL, fire=0.05, clear=0.08, low=True),
    Rule(name="instance is down", metric="answers", severity=Severity.ERROR, fire=1, clear=1, low=True),
    Rule(name="restarts", metric="restarts", severity=Severity.WARNING, fire=2, clear=1, for_s=0),
    Rule(name="not reachable", metric="up", severity=Severity.ERROR, fire=1, clear=1, low=True),
    Rule(name="certificate", metric="tls_days", severity=Severity.WARNING, fire=14, clear=15, low=True, for_s=0),
)


def after(rule: Rule, alert: Alert, value: float | None, now: float, clock: float) -> Alert:
    """The alert after a look: `now` is monotonic, `clock` what a person's watch says."""
    if alert.seen_at is not None and not 0 <= now - alert.seen_at <= rule.no_data_s:  # a restart, or nothing for long
        alert = replace(alert, bad_since=None, good_since=None, seen_at=min(alert.seen_at, now))
    if value is None:
        return _without_data(rule, replace(alert, value=None, fresh=False), now, clock)
    if alert.state is State.NO_DATA:
        alert = _moved(alert, State.WELL, clock)
    alert = replace(alert, seen_at=now, value=value)
    beyond, within = (value < rule.fire, value >= rule.clear) if rule.low else (value > rule.fire, value <= rule.clear)
    if beyond:
        bad_since = now if alert.bad_since is None else alert.bad_since
        state = State.ACTIVE if alert.state is State.ACTIVE or now - bad_since >= rule.for_s else State.PENDING
        return replace(_moved(alert, state, clock), bad_since=bad_since, good_since=None, fresh=True)
    alert = replace(alert, bad_since=None, fresh=False)
    if alert.state is not State.ACTIVE:
        return replace(_moved(alert, State.WELL, clock), good_since=None)
    if not within:
        return replace(alert, good_since=None)
    good_since = now if alert.good_since is None else alert.good_since
    if now - good_since < rule.keep_s:
        return replace(alert, good_since=good_since)
    return replace(_moved(alert, State.WELL, clock), good_since=None)


def _without_data(rule: Rule, alert: Alert, now: float, clock: float) -> Alert:
    if alert.seen_at is None:
        return replace(alert, seen_at=now)
    if alert.state is State.ACTIVE or now - alert.seen_at < rule.no_data_s:
        return alert
    return _moved(alert, State.NO_DATA, clock)


def _moved(alert: Alert, state: State, clock: float) -> Alert:
    """In this state; who acknowledged it did so for this time only."""
    if state is alert.state:
        return alert
    kept = alert.acknowledged_by if state is State.ACTIVE else ""
    return replace(alert, state=state, since=clock, acknowledged_by=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRule:
    """An alert when the errors that an SLO allows are used up too fast, by a long and by a short window."""

    name: str
    severity: Severity
    rate: float
    long_s: float
    short_s: float

    def as_rule(self) -> Rule:
        return Rule(
            name=self.name,
            metric=self.name,
            severity=self.severity,
            fire=self.rate,
            clear=self.rate,
            for_s=0,
            keep_s=60,
            no_data_s=self.short_s,
        )


BURN_RULES = (
    BurnRule(name="burn 14.4", severity=Severity.CRITICAL, rate=14.4, long_s=3600, short_s=300),
    BurnRule(name="burn 6", severity=Severity.ERROR, rate=6.0, long_s=6 * 3600, short_s=1800),
    BurnRule(name="burn 1", severity=Severity.WARNING, rate=1.0, long_s=3 * 86_400, short_s=6 * 3600),
)


def burn(errors: float | None, requests: float | None, slo: float) -> float | None:
    """How many times faster errors come than the SLO allows; 1 uses them up exactly. None without traffic."""
    return (errors or 0.0) / requests / (1 - slo) if requests else None


def burn_of(rule: BurnRule, slo: float, total: Callable[[str, float], float | None], clock: float) -> float | None:
    """The lower burn of both windows, so that it fires only when both are too high."""
    windows = (clock - rule.long_s, clock - rule.short_s)
    found = [burn(total("errors", since), total("requests", since), slo) for since in windows]
    known = [value for value in found if value is not None]
    return min(known) if len(known) == len(found) else None
