"""Series as a person looks at them: equal slots of a stretch of time, each with its worst value, or with none. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Literal

from milepost.core.shipping import Measurement
from milepost.watch.alerts import DEFAULT_RULES
from milepost.watch.series import Minute

SLOTS = 200
HOLDS_S = 15.0
"""For so long a value stands for what was not looked at since, as it does for alerts."""
MINUTE_S = 60.0

Unit = Literal["ms", "share", ""]
# What a chart is made of, in the order in which charts are shown; what is told apart by `@` is a line for each.
_KNOWN: tuple[tuple[str, Unit, tuple[str, ...]], ...] = (
    ("p99", "ms", ("p99_ms", "p95_ms", "p50_ms")),
    ("errors", "share", ("error_rate",)),
    ("processor", "share", ("cpu",)),
    ("memory", "share", ("memory",)),
    ("requests", "", ("requests",)),
    ("disk free", "share", ("disk_free",)),
)
_ALWAYS = 4
"""The first ones are shown also where nothing was measured: that is what has to be seen then."""
_IN_ALERTS = frozenset({"errors", "up", "answers", "restarts", "status"})
"""Shown elsewhere, or of no use as a line."""
_LOW = frozenset({"disk_free", "tls_days"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """`SLOTS` equal pieces of time, which begin at whole multiples of their length."""

    since: float
    slot_s: float

    @property
    def until(self) -> float:
        return self.since + SLOTS * self.slot_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One series, with a name where there are several. `now` is None where nothing is known of it now; it is `gone`
    when it is not looked at any more."""

    name: str
    values: tuple[float | None, ...]
    now: float | None
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Series that belong together. Beyond `limit`, or below it where `low` values are bad, is an alert."""

    name: str
    unit: Unit
    lines: tuple[Line, ...]
    limit: float | None = None
    low: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept of one series, the oldest first: points as they were, and minutes of older ones."""

    points: Sequence[Measurement]
    minutes: Sequence[Minute] = ()


def stretch(length_s: float, now: float) -> Stretch:
    """The last so many seconds; the slot that `now` is in is the last one."""
    slot_s = length_s / SLOTS
    return Stretch(since=ceil(now / slot_s) * slot_s - length_s, slot_s=slot_s)


def charts(kept: Mapping[str, Kept], when: Stretch, now: float | None) -> tuple[Chart, ...]:
    """What there is to see: the known series first, then all others by name. Without `now` nobody looks any more."""
    looked_at = max((one.points[-1].at for one in kept.values() if one.points), default=0.0)
    by_name: dict[str, list[str]] = {}
    for metric in sorted(kept):
        by_name.setdefault(metric.partition("@")[0], []).append(metric)

    def lines(names: Sequence[str]) -> tuple[Line, ...]:
        found = [
            _line(metric, name if len(names) > 1 else "", kept[metric], when, now, looked_at)
            for name in names
            for metric in by_name.get(name, ())
        ]
        return tuple(one for one in found if one is not None)

    shown = [
        Chart(name=title, unit=unit, lines=lines(names), limit=_limit(names[0]), low=names[0] in _LOW)
        for title, unit, names in _KNOWN[:_ALWAYS] + tuple(one for one in _KNOWN[_ALWAYS:] if one[2][0] in by_name)
    ]
    known = {name for _, _, names in _KNOWN for name in names}
    others = (name for name in by_name if name not in known | _IN_ALERTS)
    shown += [
        Chart(
            name=name,
            unit="ms" if name == "ms" else "",
            lines=lines((name,)),
            limit=_limit(name),
            low=name in _LOW,
        )
        for name in others
    ]
    return tuple(chart for place, chart in enumerate(shown) if place < _ALWAYS or chart.lines)


def _line(metric: str, title: str, kept: Kept, when: Stretch, now: float | None, looked_at: float) -> Line | None:
    """Nothing where the whole stretch has no point of it, with a value or without."""
    last = kept.points[-1] if kept.points else None
    known = last is not None and now is not None and now - last.at <= HOLDS_S
    if (last is None or last.at < when.since) and not kept.minutes:
        return None
    name, _, subject = metric.partition("@")
    return Line(
        name=subject or title.removesuffix("_ms"),
        values=slots(kept, when, min if name in _LOW else max),
        now=_finite(last.value) if last is not None and known else None,
        gone=last is None or looked_at - last.at > HOLDS_S,
    )


def slots(kept: Kept, when: Stretch, worst: Callable[[Iterable[float]], float] = max) -> tuple[float | None, ...]:
    """The worst of each slot; None where nobody looked, or nothing could be known at any look."""
    found: list[list[float]] = [[] for _ in range(SLOTS)]
    looked: list[bool] = [False] * SLOTS
    for minute in kept.minutes:
        value = _finite(minute.least if worst is min else minute.most)
        first, end = (int((at - when.since) // when.slot_s) for at in (minute.at, minute.at + MINUTE_S - 0.001))
        for place in range(max(0, first), min(SLOTS, end + 1)):
            looked[place] = True
            found[place] += [value] if value is not None else []
    for point in kept.points:
        place = int((point.at - when.since) // when.slot_s)
        if 0 <= place < SLOTS:
            looked[place] = True
            value = _finite(point.value)
            found[place] += [value] if value is not None else []
    return tuple(
        worst(values) if values else None if looked[place] else _held(kept.points, when.since + place * when.slot_s)
        for place, values in enumerate(found)
    )


def _held(points: Sequence[Measurement], at: float) -> float | None:
    """What the newest look before a moment still says of it."""
    place = bisect_left(points, at, key=lambda point: point.at)
    return _finite(points[place - 1].value) if place and at - points[place - 1].at <= HOLDS_S else None


def _limit(metric: str) -> float | None:
    return next((rule.fire for rule in DEFAULT_RULES if rule.metric == metric), None)


def _finite(value: float | None) -> float | None:
    """A number that can be drawn, no more exact than a drawing is."""
    return float(f"{value:.4g}") if value is not None and isfinite(value) else None
