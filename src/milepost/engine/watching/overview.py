"""What was written down of all that is watched, as somebody looks at it who is not the watcher."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from milepost.engine.deploys.place import Place
from milepost.engine.project.project import Project
from milepost.engine.project.state_lock import holder_of
from milepost.engine.watching.charts import HOLDS_S, MINUTE_S, Chart, Kept, charts, stretch
from milepost.engine.watching.records import Healing, Incident, RemedyRecord
from milepost.store.database import Database, open_database
from milepost.watch.alert_book import AlertBook, AlertMove, KeptAlert
from milepost.watch.alerts import State
from milepost.watch.series import Series, known_places

MOST_MOVES, MOST_INCIDENTS = 30, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAlert:
    """An alert that is or was one in the stretch that is looked at; `status` is one word for people."""

    kept: KeptAlert
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A target in one environment: what was measured from `since` to `until`, alerts, and what was done."""

    target: str
    environment: str
    watched: bool
    """A watcher is at it now; else all of this only becomes older."""
    looked_at: float | None
    since: float
    until: float
    charts: tuple[Chart, ...]
    alerts: tuple[ShownAlert, ...]
    moves: tuple[AlertMove, ...]
    incidents: tuple[tuple[Incident, tuple[RemedyRecord, ...]], ...]


def overviews(roadmap: Path | None, length_s: float, now: float) -> tuple[Overview, ...]:
    """All targets and environments that were ever watched, by name."""
    project = Project.find(roadmap)
    if not project.database.exists():
        return ()
    with closing(open_database(project.database)) as database:
        places = [Place(project=project, target=target, environment=name) for target, name in known_places(database)]
        return tuple(_overview(database, place, length_s, now) for place in places)


def _overview(database: Database, place: Place, length_s: float, now: float) -> Overview:
    here = (place.target, place.environment)
    series, book, healing = Series(database, *here), AlertBook(database, *here), Healing(database, *here)
    when = stretch(length_s, now)
    kept = {
        metric: Kept(
            points=series.points(metric, when.since - HOLDS_S), minutes=series.minutes(metric, when.since - MINUTE_S)
        )
        for metric in series.metrics()
    }
    watched = holder_of(place.folder / "watch") is not None
    moves, remedies = book.history(), healing.remedies()
    incidents = healing.incidents()[:MOST_INCIDENTS]
    return Overview(
        target=place.target,
        environment=place.environment,
        watched=watched,
        looked_at=max((one.points[-1].at for one in kept.values() if one.points), default=None),
        since=when.since,
        until=when.until,
        charts=charts(kept, when, now if watched else None),
        alerts=shown_alerts(book.all(), moves, when.since, now),
        moves=moves[:MOST_MOVES],
        incidents=tuple((one, tuple(each for each in remedies if each.incident == one.number)) for one in incidents),
    )


def shown_alerts(
    alerts: Sequence[KeptAlert], moves: Sequence[AlertMove], since: float, now: float
) -> tuple[ShownAlert, ...]:
    """Those that are alerts now, the worst first, then those that were resolved since; `moves` are the newest first."""
    newest: dict[str, AlertMove] = {}
    for move in moves:
        newest.setdefault(move.name, move)
    resolved = {name for name, move in newest.items() if move.what == "resolved" and move.at >= since}
    shown = [ShownAlert(kept=one, status=one.status(now)) for one in alerts if one.alert.state in _ALERTS]
    over = [one for one in alerts if one.alert.state in (State.WELL, State.PENDING) and one.name in resolved]
    shown.sort(key=lambda one: _RANK.index(one.kept.severity.value))
    return (*shown, *(ShownAlert(kept=one, status="resolved") for one in over))


_ALERTS = (State.ACTIVE, State.NO_DATA)
_RANK = ("critical", "error", "warning", "info")
