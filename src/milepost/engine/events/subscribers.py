"""Who else hears the events of a run: the log for machines, and a collector where one is configured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from milepost.core.events import Event
from milepost.core.secrets.redact import Redactor
from milepost.engine.events.log_file import LogFile
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.journal import Journal


@contextmanager
def listeners(
    settings: Settings,
    run: str,
    *,
    journal: Journal,
    state: Path,
    redact: Redactor,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[Callable[[Event], None]]:
    """What is to be called with every event of a run in this process; it never raises."""
    from milepost.engine.events.otel import endpoints, telemetry

    where = endpoints(environ, settings.telemetry.endpoint)
    with ExitStack() as stack:
        tellers: list[Callable[[Event, float], None]] = [LogFile(state / "logs", run, redact).tell]
        if where.traces or where.metrics:
            sent = stack.enter_context(telemetry(where, trace_seed(journal, run), journal.events(run), redact))
            tellers += [sent.tell] if sent is not None else []

        def tell(event: Event) -> None:
            now = time.time()
            for one in tellers:
                one(event, now)

        yield tell


def trace_seed(journal: Journal, run: str) -> str:
    """What names the trace of a run: its id alone is short enough to come twice in the world."""
    record = next((one for one in journal.runs() if one.run == run), None)
    return run if record is None else f"{run} {record.order.get('base', '')} {record.started_at!r}"
