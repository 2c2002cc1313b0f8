"""Watching: look at what is deployed, be told of alerts, have it healed, read what happened.

For example:

    from milepost import watching

    watching.watch("local", tell=lambda look: look.incident is None)
    for incident, remedies in watching.incidents("local"):
        print(incident.number, [remedy.outcome for remedy in remedies])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.watching import acknowledge as acknowledge
    from milepost.api.watching import alert_history as alert_history
    from milepost.api.watching import alert_to_json as alert_to_json
    from milepost.api.watching import alerts as alerts
    from milepost.api.watching import incident_task as incident_task
    from milepost.api.watching import incident_to_json as incident_to_json
    from milepost.api.watching import incidents as incidents
    from milepost.api.watching import overview_to_json as overview_to_json
    from milepost.api.watching import overviews as overviews
    from milepost.api.watching import sight_to_json as sight_to_json
    from milepost.api.watching import silence as silence
    from milepost.api.watching import watch as watch
    from milepost.core.watching import Severity as Severity
    from milepost.engine.watching.figures import figures as figures
    from milepost.engine.watching.incident_task import IncidentTask as IncidentTask
    from milepost.engine.watching.overview import Overview as Overview
    from milepost.engine.watching.records import Incident as Incident
    from milepost.engine.watching.records import RemedyRecord as RemedyRecord
    from milepost.engine.watching.records import deserves_task as deserves_task
    from milepost.engine.watching.watcher import Heal as Heal
    from milepost.engine.watching.watcher import Sight as Sight
    from milepost.watch.alert_book import AlertMove as AlertMove
    from milepost.watch.alert_book import KeptAlert as KeptAlert
    from milepost.watch.heal.situation import Remedy as Remedy
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
