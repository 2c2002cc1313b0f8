"""Watches a target for as long as somebody wants to be told of it, and tells a collector where one is configured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from milepost.engine.events.otel import endpoints, state_telemetry
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.engine.records.run_view import redactor_of
from milepost.engine.watching.figures import figures
from milepost.engine.watching.watcher import Heal, Sight, watching


def follow(
    roadmap: Path | None, target: str, environment: str, heal: Heal | None, tell: Callable[[Sight], bool]
) -> None:
    """Look at every interval until `tell` says that it is enough; a look that comes too late is left out."""
    with watching(roadmap, target, environment, heal) as (watcher, interval_s), exporting(roadmap) as export:
        due = time.monotonic()
        while True:
            sight = watcher.look()
            export(sight)
            if not tell(sight):
                return
            due = max(due + interval_s, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


@contextmanager
def exporting(roadmap: Path | None, environ: Mapping[str, str] = os.environ) -> Iterator[Callable[[Sight], None]]:
    """What is to be called with every look; it never raises, and does nothing where no collector is named."""
    project = Project.find(roadmap)
    settings = load(project.roadmap.parent, environ=environ, uses=("telemetry",))
    where = endpoints(environ, settings.telemetry.endpoint)
    if not where.metrics:
        yield lambda _: None
        return
    with state_telemetry(where, redactor_of(project)) as sent:
        yield (lambda sight: sent.tell(figures(sight))) if sent is not None else lambda _: None
