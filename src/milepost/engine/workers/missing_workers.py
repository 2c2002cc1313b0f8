"""What a run that was submitted waits for because no worker offers it, said once to whoever follows."""

from __future__ import annotations

import threading
from collections.abc import Callable

from milepost.core.events import Event, WorkerChanged
from milepost.store.database import Database

NO_WORKER = "no worker has joined yet: start one with milepost worker --database URL --remote GIT_URL"


class Wanting(threading.Event):
    """Whoever follows never stops by it: each time it is waited for, it says once what the run wants workers for."""

    def __init__(self, database: Database, run: str, on_event: Callable[[Event], None]) -> None:
        super().__init__()
        self._database, self._run, self._on_event = database, run, on_event
        self._said: set[str] = set()

    def wait(self, timeout: float | None = None) -> bool:
        for what in wanted(self._database, self._run):
            if what not in self._said:
                self._said.add(what)
                self._on_event(WorkerChanged(run=self._run, worker="", what=what))
        return super().wait(timeout)


def wanted(database: Database, run: str) -> list[str]:
    """What a run waits for that no worker offers: any worker at all, or one with the labels that a task needs."""
    labels = [set(words.split()) for (words,) in database.read("select labels from workers where gone = ''")]
    if not labels:
        return [NO_WORKER]
    sql = "select workflow, needs from offers where run = ? and worker = '' and needs <> '' order by seq"
    free = [(workflow.split("/")[1], needs.split()) for workflow, needs in database.read(sql, run)]
    lacking = [(task, needs) for task, needs in free if not any(set(needs) <= offered for offered in labels)]
    return [f"{task} waits for a worker with {', '.join(needs)}" for task, needs in lacking]
