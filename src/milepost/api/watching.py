"""Watch a target, and read what was written down of it."""

from __future__ import annotations

import getpass
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from milepost.engine.watching.incident_task import IncidentTask
    from milepost.engine.watching.overview import Overview
    from milepost.engine.watching.records import Incident, RemedyRecord
    from milepost.engine.watching.watcher import Heal, Sight
    from milepost.watch.alert_book import AlertMove, KeptAlert


def watch(
    target: str,
    roadmap: Path | str | None = None,
    *,
    tell: Callable[[Sight], bool],
    environment: str = "dev",
    heal: Heal | None = None,
) -> None:
    """Look at a target at every interval, and do what follows, until `tell` says with False that it is enough.

    `heal` is that of the settings where it is absent: off, suggest or auto.
    """
    from milepost.engine.watching.follow import follow

    follow(path_of(roadmap), target, environment, heal, tell)


def alerts(target: str, roadmap: Path | str | None = None, *, environment: str = "dev") -> tuple[KeptAlert, ...]:
    """All alerts of a target, those that are well, too."""
    from milepost.engine.watching.watcher import kept

    with kept(path_of(roadmap), target, environment) as (book, _, _):
        return book.all()


def alert_history(target: str, roadmap: Path | str | None = None, *, environment: str = "dev") -> tuple[AlertMove, ...]:
    """What became of alerts, the newest first."""
    from milepost.engine.watching.watcher import kept

    with kept(path_of(roadmap), target, environment) as (book, _, _):
        return book.history()


def acknowledge(target: str, alert: str, roadmap: Path | str | None = None, *, environment: str = "dev") -> None:
    """Say that you look after an alert."""
    from milepost.engine.watching.watcher import kept

    with kept(path_of(roadmap), target, environment) as (book, _, _):
        book.acknowledge(alert, getpass.getuser(), time.time())


def silence(
    target: str, alert: str, minutes: float, roadmap: Path | str | None = None, *, environment: str = "dev"
) -> None:
    """Have nobody told of an alert for so long."""
    from milepost.engine.watching.watcher import kept

    with kept(path_of(roadmap), target, environment) as (book, _, _):
        book.silence(alert, time.time() + 60 * minutes, getpass.getuser(), time.time())


def incidents(
    target: str, roadmap: Path | str | None = None, *, environment: str = "dev"
) -> tuple[tuple[Incident, tuple[RemedyRecord, ...]], ...]:
    """Incidents, the newest first, each with what was done in it."""
    from milepost.engine.watching.watcher import kept

    with kept(path_of(roadmap), target, environment) as (_, healing, _):
        done = healing.remedies()
        return tuple((one, tuple(each for each in done if each.incident == one.number)) for one in healing.incidents())


def overviews(roadmap: Path | str | None = None, *, seconds: float = 600) -> tuple[Overview, ...]:
    """All that was ever watched: series of the last so many seconds, alerts, and what was done and whether it helped.

    They end now, also where nobody looks any more.
    """
    from milepost.engine.watching.overview import overviews

    return overviews(path_of(roadmap), seconds, time.time())


def overview_to_json(one: Overview) -> dict[str, Any]:
    """What the page shows of a target."""
    return {
        "target": one.target,
        "environment": one.environment,
        "watched": one.watched,
        "looked_at": one.looked_at,
        "since": one.since,
        "until": one.until,
        "charts": [asdict(chart) for chart in one.charts],
        "alerts": [alert_to_json(shown.kept, 0) | {"status": shown.status} for shown in one.alerts],
        "moves": [asdict(move) for move in one.moves],
        "incidents": [incident_to_json(*incident) for incident in one.incidents],
    }


def incident_task(
    target: str,
    number: int,
    roadmap: Path | str | None = None,
    *,
    environment: str = "dev",
    say: Callable[[str], None] = ignore,
) -> IncidentTask:
    """Have an incident in the roadmap as a task, committed; one, however often it is asked for."""
    from milepost.engine.watching.incident_task import task_of

    return task_of(path_of(roadmap), target, environment, number, say)


def sight_to_json(sight: Sight) -> dict[str, Any]:
    """A look as `milepost watch --json` prints it."""
    from milepost.engine.records.values_json import dump

    decision = sight.decision
    return {
        "target": sight.target,
        "environment": sight.environment,
        "at": sight.at,
        "release": sight.release or None,
        "values": dict(sight.values),
        "alerts": [
            alert_to_json(one, sight.at) for one in sight.alerts if one.status(sight.at) not in ("well", "pending")
        ],
        "decision": None if decision is None else {"kind": type(decision).__name__.lower(), "why": decision.why},
        "remedy": None if sight.remedy is None else dump(sight.remedy),
        "incident": sight.incident.number if sight.incident else None,
        "task": sight.task or None,
    }


def alert_to_json(one: KeptAlert, clock: float) -> dict[str, Any]:
    return {
        "alert": one.name,
        "severity": one.severity.value,
        "status": one.status(clock),
        "value": one.alert.value,
        "since": one.alert.since,
        "acknowledged_by": one.alert.acknowledged_by or None,
        "silenced_until": one.alert.silenced_until or None,
    }


def incident_to_json(one: Incident, done: tuple[RemedyRecord, ...]) -> dict[str, Any]:
    """An incident as `milepost incidents --json` prints it."""
    from milepost.engine.records.values_json import dump

    return dump(one) | {"remedies": [dump(each) for each in done]}
