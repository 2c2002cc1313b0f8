"""A look as figures for a dashboard, by the same names for Prometheus and OpenTelemetry. Pure.

What nobody could tell is left out. Names follow the rules of both: base units, no names that others chose.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from milepost.engine.events.otel_metrics import Figure, Instrument
from milepost.engine.watching.watcher import Sight
from milepost.watch.alerts import State


def _state(name: str, means: str, kind: Literal["state", "total"] = "state") -> Instrument:
    return Instrument(name=f"milepost.{name}", unit="", kind=kind, means=means)


# What is measured under a name, and how much one of its unit is of the base unit.
KNOWN = {
    "requests": (_state("requests", "Requests since the look before, each try counted."), 1.0),
    "errors": (_state("errors", "Tries that failed since the look before."), 1.0),
    "error_rate": (_state("error_rate", "Share of the tries that failed in the last seconds."), 1.0),
    "p50_ms": (_state("p50_seconds", "Time of half of the answers."), 0.001),
    "p95_ms": (_state("p95_seconds", "Time of 95 of 100 answers."), 0.001),
    "p99_ms": (_state("p99_seconds", "Time of 99 of 100 answers."), 0.001),
    "disk_free": (_state("disk_free", "Free share of the disk."), 1.0),
    "up": (_state("up", "1 where it answers."), 1.0),
    "answers": (_state("answers", "1 where an instance answers."), 1.0),
    "cpu": (_state("cpu", "Share of one processor that an instance takes."), 1.0),
    "memory": (_state("memory", "Share of its limit that an instance takes."), 1.0),
    "restarts": (_state("restarts", "How often an instance ended by itself in the last minute."), 1.0),
    "ms": (_state("answer_seconds", "Time of the answer of a page."), 0.001),
    "status": (_state("status", "Status that a page answered with."), 1.0),
    "tls_days": (_state("tls_seconds", "What is left of a certificate."), 86_400.0),
    "lines": (_state("lines", "Lines of a log that matched since the look before."), 1.0),
    "burn": (_state("burn", "How many times too fast errors use up the SLO."), 1.0),
}
_OF_THE_APPLICATION = _state("scraped", "Metrics that the application shows, by their names.")
_ALERT = _state("alert_active", "1 for each active alert.")
_REMEDIES = _state("remedies", "Remedies that are over, by what came of them.", kind="total")


def figures(sight: Sight) -> Iterator[Figure]:
    """All that a look tells."""
    where = {"target": sight.target, "environment": sight.environment}
    for metric, value in sight.values.items():
        name, subject = _parts(metric)
        of, factor = KNOWN.get(name, (_OF_THE_APPLICATION, 1.0))
        if value is not None:
            yield Figure(of=of, value=value * factor, facts=where | {"subject": subject if name in KNOWN else metric})
    for one in sight.alerts:
        if one.alert.state is State.ACTIVE:
            yield Figure(of=_ALERT, value=1.0, facts=where | {"alert": one.name, "severity": one.severity.value})
    for (kind, outcome), count in sight.judged.items():
        yield Figure(of=_REMEDIES, value=count, facts=where | {"kind": kind.value, "outcome": outcome.value})


def _parts(metric: str) -> tuple[str, str]:
    """`cpu@1.0` and `burn 14.4` as a name and what it is about."""
    name, _, subject = metric.partition("@")
    return ("burn", name.removeprefix("burn ")) if name.startswith("burn ") and not subject else (name, subject)
